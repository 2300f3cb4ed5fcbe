#include "ops/pointwise.h"
#include "ops/pointwise_formula.h"
#include "ops/reference_families.h"

namespace warploom::ops {
namespace {

using Pointwise = graph::Pointwise_attributes;

}  // namespace

template <class Number>
void reference(const Pointwise& pointwise, const ReferenceTensors& tensors, Number*) {
  const PointwiseMode_t mode = pointwise.get_mode();
  const PointwiseParameters parameters(pointwise);
  const ReferenceTensor& output = tensors.outputs[Pointwise::OUT_0];
  const size_t rank = output.shape->dims.size();
  const auto operands = static_cast<size_t>(arity(mode));
  const bool is_index = mode == PointwiseMode_t::GEN_INDEX;
  const auto axis = static_cast<size_t>(pointwise.get_axis().value_or(0));
  for_each_index(output.shape->dims, [&](const Index& index) {
    Number values[3] = {};
    if (is_index) {
      values[0] = static_cast<Number>(index[axis]);
    } else {
      for (size_t i = 0; i < operands; ++i) {
        const ReferenceTensor& input = tensors.inputs[i];
        values[i] = load<Number>(input, broadcast_offset_of(*input.shape, rank, index));
      }
    }
    store(output, offset_of(*output.shape, index),
          apply<Number>(mode, parameters, values[0], values[1], values[2]));
  });
}

template void reference(const Pointwise&, const ReferenceTensors&, double*);
template void reference(const Pointwise&, const ReferenceTensors&, int64_t*);

}  // namespace warploom::ops
