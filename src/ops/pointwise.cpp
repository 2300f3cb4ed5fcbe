#include "ops/pointwise.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using Pointwise = graph::Pointwise_attributes;
using graph::TensorPtr;

error_t check_arity(const Pointwise& pointwise, const Site& site) {
  const auto wanted = static_cast<size_t>(arity(pointwise.get_mode()));
  for (size_t port = 0; port < std::size(Pointwise::kInputs); ++port) {
    const bool is_given = pointwise.inputs[port] != nullptr;
    if (is_given == (port < wanted)) continue;
    return site.refuse(is_given ? error_code_t::INVALID_VALUE : error_code_t::ATTRIBUTE_NOT_SET,
                       site.input(port), is_given ? "a tensor" : "no tensor",
                       fmt::format("{} input{} for mode {}", wanted, wanted == 1 ? "" : "s",
                                   to_string(pointwise.get_mode())));
  }
  return {};
}

error_t check_parameters(const Pointwise& pointwise, const Site& site) {
  auto check = [&](std::string_view name, double value, bool is_accepted,
                   std::string_view accepted) -> error_t {
    if (is_accepted) return {};
    return site.refuse(error_code_t::INVALID_VALUE, site.field(name), show(value), accepted);
  };
  const double lower = pointwise.get_relu_lower_clip();
  CHECK_WARPLOOM_ERROR(check("relu_lower_clip", lower, !std::isnan(lower), "a number"));
  if (pointwise.get_relu_upper_clip()) {
    const double upper = *pointwise.get_relu_upper_clip();
    CHECK_WARPLOOM_ERROR(check("relu_upper_clip", upper, !std::isnan(upper), "a number"));
  }
  struct Parameter {
    std::string_view name;
    double value;
  };
  for (const auto& [name, value] :
       {Parameter{"relu_lower_clip_slope", pointwise.get_relu_lower_clip_slope()},
        Parameter{"swish_beta", pointwise.get_swish_beta()},
        Parameter{"elu_alpha", pointwise.get_elu_alpha()},
        Parameter{"softplus_beta", pointwise.get_softplus_beta()}})
    CHECK_WARPLOOM_ERROR(check(name, value, std::isfinite(value), "a finite number"));
  return check("softplus_beta", pointwise.get_softplus_beta(), pointwise.get_softplus_beta() != 0,
               "a number other than 0");
}

error_t check_axis(const Pointwise& pointwise, const Site& site) {
  if (pointwise.get_mode() != PointwiseMode_t::GEN_INDEX) return {};
  const auto rank = static_cast<int64_t>(pointwise.inputs[0]->get_dim().size());
  const std::string accepted = fmt::format("0 to {}, a dim of {}", rank - 1, site.input(0));
  if (!pointwise.get_axis())
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.field("axis"), "nothing set",
                       accepted);
  if (*pointwise.get_axis() < 0 || *pointwise.get_axis() >= rank)
    return site.refuse(error_code_t::INVALID_VALUE, site.field("axis"), show(*pointwise.get_axis()),
                       accepted);
  return {};
}

// The usual rules, aligned right: equal, or one of them 1. Stored scalars fit everywhere.
error_t broadcast(const Pointwise& pointwise, const Site& site, Dims& dims) {
  std::vector<size_t> ports;
  for (size_t port = 0; port < pointwise.inputs.size(); ++port)
    if (pointwise.inputs[port] && !is_stored_scalar(*pointwise.inputs[port])) ports.push_back(port);
  if (ports.empty()) ports.push_back(0);
  size_t rank = 0;
  for (size_t port : ports) rank = std::max(rank, pointwise.inputs[port]->get_dim().size());
  dims.assign(rank, 1);
  for (size_t port : ports) {
    const Dims& input = pointwise.inputs[port]->get_dim();
    for (size_t i = 0; i < input.size(); ++i) {
      int64_t& dim = dims[rank - input.size() + i];
      if (dim == 1) dim = input[i];
      if (input[i] != dim && input[i] != 1)
        return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port, i),
                           fmt::format("{} in {}", input[i], show(input)),
                           fmt::format("1 or {}, as the inputs before it have", dim));
    }
  }
  return {};
}

// Those of the last input of the same dims, else packed in the order of the first of the same rank.
Dims default_strides(const Pointwise& pointwise, const Dims& dims) {
  for (size_t port = pointwise.inputs.size(); port-- > 0;) {
    const TensorPtr& input = pointwise.inputs[port];
    if (input && input->get_dim() == dims && !elements_overlap(dims, input->get_stride()))
      return input->get_stride();
  }
  for (const TensorPtr& input : pointwise.inputs)
    if (input && !is_stored_scalar(*input) && input->get_dim().size() == dims.size())
      return strides_in_order_of(dims, input->get_stride());
  return row_major_strides(dims);
}

}  // namespace

int arity(PointwiseMode_t mode) {
  switch (mode) {
#define WARPLOOM_POINTWISE(mode, arity, expression, integer_expression, formula, integers, nan) \
  case PointwiseMode_t::mode:                                                                   \
    return arity;
#include "ops/pointwise.def"
#undef WARPLOOM_POINTWISE
    case PointwiseMode_t::NOT_SET:
      return 0;
  }
  return 0;
}

PointwiseText text_of(PointwiseMode_t mode) {
  switch (mode) {
#define WARPLOOM_POINTWISE(mode, arity, expression, integer_expression, formula, integers, nan) \
  case PointwiseMode_t::mode:                                                                   \
    return {formula, integers, nan};
#include "ops/pointwise.def"
#undef WARPLOOM_POINTWISE
    case PointwiseMode_t::NOT_SET:
      break;
  }
  return {};
}

// Every mode has a row (-Wswitch above would only warn).
#define WARPLOOM_COUNT(name) +1
#define WARPLOOM_POINTWISE(...) +1
static_assert((0 WARPLOOM_POINTWISE_MODES(WARPLOOM_COUNT)) == 1 +
#include "ops/pointwise.def"
);
#undef WARPLOOM_POINTWISE
#undef WARPLOOM_COUNT

error_t validate(const Pointwise& pointwise, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_arity(pointwise, site));
  CHECK_WARPLOOM_ERROR(check_parameters(pointwise, site));
  return check_axis(pointwise, site);
}

error_t infer(Pointwise& pointwise, const Site& site) {
  Dims dims;
  CHECK_WARPLOOM_ERROR(broadcast(pointwise, site, dims));
  graph::Tensor_attributes& output = *pointwise.outputs[Pointwise::OUT_0];
  CHECK_WARPLOOM_ERROR(infer_dims(site, Pointwise::OUT_0, output, dims));
  if (output.get_stride().empty()) output.set_stride(default_strides(pointwise, dims));
  return {};
}

}  // namespace warploom::ops
