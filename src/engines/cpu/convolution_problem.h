#pragma once

#include "engines/cpu/plain_tensor.h"

namespace warploom::cpu {

/// A convolution on particular shapes, always with three spatial dimensions (depth, height, width):
/// missing ones have extent 1.
struct ConvolutionProblem {
  static constexpr int kDepth = 0, kHeight = 1, kWidth = 2;

  int64_t images = 0, groups = 1;
  int64_t group_inputs = 0, group_outputs = 0;  ///< channels of one group
  int64_t input[3], window[3], output[3];
  int64_t stride[3], dilation[3], pre_padding[3];
  bool flips = false;

  PlainTensor x, w;
  int64_t x_image_stride = 0, x_channel_stride = 0, x_strides[3];
  int64_t w_output_stride = 0, w_input_stride = 0, w_strides[3];

  ConvolutionProblem() = default;
  ConvolutionProblem(const fusion::FusionGroup& group, ir::ShapeTable shapes);

  int64_t taps() const { return window[0] * window[1] * window[2]; }
  int64_t output_pixels() const { return output[0] * output[1] * output[2]; }
  /// Every window lies inside the image.
  bool has_padding() const;
  /// Element offset in W of a tap, by its row-major number.
  int64_t tap_offset(int64_t tap) const;
};

/// The axes of a convolution's result as rows (images and pixels) and columns (channels).
WalkOrder convolution_order(int rank);

}  // namespace warploom::cpu
