#include "engines/cpu/convolution_problem.h"

#include <algorithm>

namespace warploom::cpu {

using graph::Conv_fprop_attributes;

ConvolutionProblem::ConvolutionProblem(const fusion::FusionGroup& group, ir::ShapeTable shapes)
    : x(plain_input(group, shapes, Conv_fprop_attributes::X)),
      w(plain_input(group, shapes, Conv_fprop_attributes::W)) {
  const Conv_fprop_attributes& attributes = *group.anchor_as<Conv_fprop_attributes>();
  const ir::Shape& y = shapes[static_cast<size_t>(group.node(group.anchor).outputs[0])];
  images = x.shape.dims[0];
  group_inputs = w.shape.dims[1];
  groups = group_inputs == 0 ? 1 : std::max<int64_t>(x.shape.dims[1] / group_inputs, 1);
  group_outputs = y.dims[1] / groups;
  flips = attributes.get_convolution_mode() == ConvolutionMode_t::CONVOLUTION;
  x_image_stride = x.shape.strides[0];
  x_channel_stride = x.shape.strides[1];
  w_output_stride = w.shape.strides[0];
  w_input_stride = w.shape.strides[1];
  const size_t spatial = y.dims.size() - 2;
  for (size_t i = 0; i < 3; ++i) {
    input[i] = window[i] = output[i] = stride[i] = dilation[i] = 1;
    pre_padding[i] = x_strides[i] = w_strides[i] = 0;
    if (i < 3 - spatial) continue;
    const size_t field = i - (3 - spatial), axis = field + 2;
    input[i] = x.shape.dims[axis];
    window[i] = w.shape.dims[axis];
    output[i] = y.dims[axis];
    stride[i] = attributes.get_stride()[field];
    dilation[i] = attributes.get_dilation()[field];
    pre_padding[i] = attributes.get_pre_padding()[field];
    x_strides[i] = x.shape.strides[axis];
    w_strides[i] = w.shape.strides[axis];
  }
}

bool ConvolutionProblem::has_padding() const {
  for (int i = 0; i < 3; ++i) {
    if (pre_padding[i] > 0) return true;
    if ((output[i] - 1) * stride[i] + (window[i] - 1) * dilation[i] >= input[i]) return true;
  }
  return false;
}

int64_t ConvolutionProblem::tap_offset(int64_t tap) const {
  int64_t offset = 0;
  for (int i = 3; i-- > 0; tap /= window[i]) {
    const int64_t at = tap % window[i];
    offset += (flips ? window[i] - 1 - at : at) * w_strides[i];
  }
  return offset;
}

WalkOrder convolution_order(int rank) {
  WalkOrder order;
  for (int axis = 0; axis < rank; ++axis)
    (axis == 1 ? order.column_axes : order.row_axes).push_back(axis);
  return order;
}

}  // namespace warploom::cpu
