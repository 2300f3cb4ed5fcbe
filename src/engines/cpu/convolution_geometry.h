#pragma once

#include <warploom/ops/convolution.h>

#include "engines/cpu/plain_tensor.h"

namespace warploom::cpu {

/// What relates image, filter and response of a convolution and of its gradients, always with three
/// spatial axes (depth, height, width): missing ones have extent 1.
struct ConvolutionGeometry {
  int64_t images = 0, groups = 1;
  int64_t channels = 0, filters = 0;  ///< of one group
  int64_t x[3], window[3], y[3];
  int64_t stride[3], dilation[3], padding[3];
  bool flips = false;

  ConvolutionGeometry() = default;
  ConvolutionGeometry(const graph::ConvolutionFields& fields, const ir::Shape& image,
                      const ir::Shape& filter, const ir::Shape& response);

  int64_t taps() const { return window[0] * window[1] * window[2]; }
  int64_t x_pixels() const { return x[0] * x[1] * x[2]; }
  int64_t y_pixels() const { return y[0] * y[1] * y[2]; }
  double flops() const;
  /// Where position `tap` of the window lies in the filter.
  int64_t filter_position(int axis, int64_t tap) const {
    return flips ? window[axis] - 1 - tap : tap;
  }
};

/// Element strides of an image, response or filter, with the same three axes.
struct ConvolutionStrides {
  int64_t outer = 0, channel = 0, spatial[3] = {0, 0, 0};

  ConvolutionStrides() = default;
  explicit ConvolutionStrides(const ir::Shape& shape);
  int64_t offset(const int64_t (&at)[3]) const {
    return at[0] * spatial[0] + at[1] * spatial[1] + at[2] * spatial[2];
  }
};

/// Rounds towards minus infinity; the divisor is positive.
constexpr int64_t floor_divide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace warploom::cpu
