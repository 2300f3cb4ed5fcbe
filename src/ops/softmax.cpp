#include <fmt/format.h>

#include "ops/norm.h"

namespace warploom::ops {

using Softmax = graph::Softmax_attributes;

namespace {

Dims statistics_dims(const Softmax& softmax) {
  Dims dims = softmax.inputs[Softmax::P]->get_dim();
  dims[softmax_axis(softmax, dims.size())] = 1;
  return dims;
}

}  // namespace

size_t softmax_axis(const Softmax& softmax, size_t rank) {
  const int64_t axis = softmax.get_axis();
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

error_t validate(const Softmax& softmax, const Site& site) {
  CHECK_WARPLOOM_ERROR(
      check_floating(site, softmax.compute_data_type, softmax.outputs, Softmax::Stats));
  const auto rank = static_cast<int64_t>(softmax.inputs[Softmax::P]->get_dim().size());
  if (softmax.get_axis() < -rank || softmax.get_axis() >= rank)
    return site.refuse(error_code_t::INVALID_VALUE, site.field("axis"), show(softmax.get_axis()),
                       fmt::format("{} to {}, for the {} dims of {}", -rank, rank - 1, rank,
                                   site.input(Softmax::P)));
  return check_repeats(site, Softmax::SINK, softmax.inputs[Softmax::SINK],
                       statistics_dims(softmax));
}

error_t infer(Softmax& softmax, const Site& site) {
  const graph::Tensor_attributes& p = *softmax.inputs[Softmax::P];
  CHECK_WARPLOOM_ERROR(infer_layout(site, Softmax::S, softmax.outputs[Softmax::S], layout_like(p)));
  const Layout statistics = packed_like(statistics_dims(softmax), p);
  for (size_t port : {Softmax::Stats, Softmax::Max, Softmax::Sum_exp})
    CHECK_WARPLOOM_ERROR(infer_layout(site, port, softmax.outputs[port], statistics));
  return {};
}

}  // namespace warploom::ops
