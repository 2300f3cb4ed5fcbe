#include "ops/attention_checks.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using Backward = graph::SDPA_backward_attributes;
using graph::TensorPtr;

struct Gradient {
  size_t input, output;
};
constexpr Gradient kGradients[] = {
    {Backward::Q, Backward::dQ}, {Backward::K, Backward::dK}, {Backward::V, Backward::dV}};

error_t check_types(const Backward& backward, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_compute_type(backward, site));
  for (size_t port = Backward::Q; port <= Backward::Stats; ++port)
    CHECK_WARPLOOM_ERROR(
        check_input_type(site, port, backward.inputs[port], base::is_floating, kFloatTypes));
  for (size_t port :
       {Backward::dQ, Backward::dK, Backward::dV, Backward::dBias, Backward::DSINK_TOKEN})
    CHECK_WARPLOOM_ERROR(
        check_output_type(site, port, backward.outputs[port], base::is_floating, kFloatTypes));
  return {};
}

error_t check_results_of_forward(const Backward& backward, const Site& site) {
  const AttentionExtents e(backward, PortDims::of(backward));
  const auto& inputs = backward.inputs;
  for (size_t port : {Backward::O, Backward::dO})
    CHECK_WARPLOOM_ERROR(check_dims(site, port, inputs[port],
                                    {{e.batches, e.query_heads, e.queries, e.value_size}}));
  return check_dims(site, Backward::Stats, inputs[Backward::Stats],
                    {{e.batches, e.query_heads, e.queries, 1}});
}

error_t check_partners(const Backward& backward, const Site& site) {
  const auto needs = [&](size_t output, size_t input) -> error_t {
    if (!backward.outputs[output] || backward.inputs[input]) return {};
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(input),
                       fmt::format("none with {}", site.output(output)),
                       "the tensor whose gradient that is");
  };
  CHECK_WARPLOOM_ERROR(needs(Backward::dBias, Backward::Bias));
  CHECK_WARPLOOM_ERROR(needs(Backward::DSINK_TOKEN, Backward::SINK_TOKEN));
  const TensorPtr& inverse = backward.inputs[Backward::Dropout_scale_inv];
  if (!inverse && backward.inputs[Backward::Dropout_mask])
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(Backward::Dropout_scale_inv),
                       "none with a dropout mask", "1 / scale");
  return check_single(site, Backward::Dropout_scale_inv, inverse);
}

}  // namespace

error_t validate(const Backward& backward, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_types(backward, site));
  CHECK_WARPLOOM_ERROR(check_shapes(backward, site));
  CHECK_WARPLOOM_ERROR(check_results_of_forward(backward, site));
  CHECK_WARPLOOM_ERROR(check_options(backward, site));
  return check_partners(backward, site);
}

error_t infer(Backward& backward, const Site& site) {
  for (const auto& [input, output] : kGradients) {
    graph::Tensor_attributes& gradient = *backward.outputs[output];
    // As in the contract: their layouts are decisions of the user's.
    if (gradient.get_dim().empty() || gradient.get_stride().empty())
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.output(output),
                         gradient.get_dim().empty() ? "no dims" : "no strides",
                         "dims and strides, set on the result");
    CHECK_WARPLOOM_ERROR(infer_dims(site, output, gradient, backward.inputs[input]->get_dim()));
  }
  const auto infer_row_major = [&](size_t port, const Dims& dims) -> error_t {
    const TensorPtr& tensor = backward.outputs[port];
    if (!tensor) return {};
    CHECK_WARPLOOM_ERROR(infer_dims(site, port, *tensor, dims));
    if (tensor->get_stride().empty()) tensor->set_stride(row_major_strides(dims));
    return {};
  };
  if (const TensorPtr& bias = backward.inputs[Backward::Bias])
    CHECK_WARPLOOM_ERROR(infer_row_major(Backward::dBias, bias->get_dim()));
  if (const TensorPtr& sink = backward.inputs[Backward::SINK_TOKEN])
    CHECK_WARPLOOM_ERROR(infer_row_major(Backward::DSINK_TOKEN, sink->get_dim()));
  return infer_row_major(Backward::RNG_DUMP, score_dims(backward));
}

}  // namespace warploom::ops
