#include <type_traits>

#include "base/data_type.h"
#include "ops/reference_families.h"

namespace warploom::ops {
namespace {

// Nothing is rounded here. A BOOLEAN becomes 0 or 1 as ever; a virtual float may lie as DOUBLE on
// one side alone.
void move(const ReferenceTensor& from, int64_t from_offset, const ReferenceTensor& to,
          int64_t to_offset) {
  if (base::is_integer(from.type))
    store(to, to_offset, load<int64_t>(from, from_offset));
  else if (from.type == to.type)
    base::copy_element(from.type, from.data, from_offset, to.data, to_offset);
  else
    store(to, to_offset, load<double>(from, from_offset));
}

}  // namespace

void reference(const graph::Reshape_attributes& reshape, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[graph::Reshape_attributes::X];
  const ReferenceTensor& y = tensors.outputs[graph::Reshape_attributes::Y];
  if (reshape.get_reshape_mode() == ReshapeMode_t::VIEW_ONLY) {
    // Y's layout laid over X's memory.
    for_each_index(y.shape->dims, [&](const Index& index) {
      const int64_t offset = offset_of(*y.shape, index);
      move(x, offset, y, offset);
    });
    return;
  }
  // Both in row-major order: the position in it decides.
  int64_t position = 0;
  for_each_index(y.shape->dims, [&](const Index& index) {
    int64_t rest = position++, x_offset = 0;
    for (size_t i = x.shape->dims.size(); i-- > 0;) {
      x_offset += rest % x.shape->dims[i] * x.shape->strides[i];
      rest /= x.shape->dims[i];
    }
    move(x, x_offset, y, offset_of(*y.shape, index));
  });
}

void reference(const graph::Transpose_attributes& transpose, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[graph::Transpose_attributes::X];
  const ReferenceTensor& y = tensors.outputs[graph::Transpose_attributes::Y];
  for_each_index(y.shape->dims, [&](const Index& index) {
    int64_t x_offset = 0;
    for (size_t i = 0; i < y.shape->dims.size(); ++i)
      x_offset += index[i] * x.shape->strides[static_cast<size_t>(transpose.get_permutation()[i])];
    move(x, x_offset, y, offset_of(*y.shape, index));
  });
}

void reference(const graph::Slice_attributes& slice, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[graph::Slice_attributes::X];
  const ReferenceTensor& y = tensors.outputs[graph::Slice_attributes::Y];
  for_each_index(y.shape->dims, [&](const Index& index) {
    int64_t x_offset = 0;
    for (size_t i = 0; i < y.shape->dims.size(); ++i) {
      const int64_t step = slice.get_strides().empty() ? 1 : slice.get_strides()[i];
      x_offset += (slice.get_slices()[i].first + index[i] * step) * x.shape->strides[i];
    }
    move(x, x_offset, y, offset_of(*y.shape, index));
  });
}

void reference(const graph::Concatenate_attributes& concatenate, const ReferenceTensors& tensors) {
  const ReferenceTensor& y = tensors.outputs[graph::Concatenate_attributes::Y];
  const auto axis = static_cast<size_t>(*concatenate.get_axis());
  int64_t begin = 0;
  for (const ReferenceTensor& x : tensors.inputs) {
    if (!x) continue;
    for_each_index(x.shape->dims, [&](const Index& index) {
      move(x, offset_of(*x.shape, index), y,
           offset_of(*y.shape, index) + begin * y.shape->strides[axis]);
    });
    begin += x.shape->dims[axis];
  }
}

}  // namespace warploom::ops
