#include <fmt/format.h>

#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {

using graph::Reduction_attributes;

error_t validate(const Reduction_attributes& reduction, const Site& site) {
  const Dims& x = reduction.inputs[Reduction_attributes::X]->get_dim();
  const Dims& y = reduction.outputs[Reduction_attributes::Y]->get_dim();
  if (y.empty()) return {};
  if (y.size() != x.size())
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.output(Reduction_attributes::Y),
                       show(y.size()) + " dims",
                       fmt::format("{}, as {} has", x.size(), site.input(Reduction_attributes::X)));
  for (size_t i = 0; i < x.size(); ++i)
    if (y[i] != x[i] && y[i] != 1)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED,
                         site.output(Reduction_attributes::Y, i), show(y[i]),
                         fmt::format("{}, as {} has, or 1 to reduce over it", x[i],
                                     site.input(Reduction_attributes::X)));
  return {};
}

error_t infer(Reduction_attributes& reduction, const Site&) {
  graph::Tensor_attributes& output = *reduction.outputs[Reduction_attributes::Y];
  if (output.get_dim().empty())
    output.set_dim(reduction.inputs[Reduction_attributes::X]->get_dim());
  if (output.get_stride().empty()) output.set_stride(nhwc_strides(output.get_dim()));
  return {};
}

}  // namespace warploom::ops
