#include <algorithm>
#include <array>

#include "ops/reference_families.h"

namespace warploom::ops {
namespace {

using Conv = graph::Conv_fprop_attributes;
using Spatial = std::array<int64_t, 3>;

// A convolution in three spatial dimensions, the missing ones at the front with extent 1.
struct Geometry {
  int64_t batch, channels, outputs, group_channels, group_outputs;
  Spatial x, window, y;
  Spatial padding{0, 0, 0}, stride{1, 1, 1}, dilation{1, 1, 1};
  bool is_flipped;
};

Geometry geometry_of(const Conv& conv, const ReferenceTensors& tensors) {
  const auto& x = tensors.inputs[Conv::X].shape->dims;
  const auto& w = tensors.inputs[Conv::W].shape->dims;
  const auto& y = tensors.outputs[Conv::Y].shape->dims;
  const int64_t groups = w[1] == 0 ? 1 : x[1] / w[1];
  Geometry geometry{.batch = x[0],
                    .channels = x[1],
                    .outputs = w[0],
                    .group_channels = w[1],
                    .group_outputs = w[0] / groups,
                    .x = {1, 1, 1},
                    .window = {1, 1, 1},
                    .y = {1, 1, 1},
                    .is_flipped = conv.get_convolution_mode() == ConvolutionMode_t::CONVOLUTION};
  const size_t missing = 5 - x.size();
  for (size_t i = missing; i < 3; ++i) {
    geometry.x[i] = x[i - missing + 2];
    geometry.window[i] = w[i - missing + 2];
    geometry.y[i] = y[i - missing + 2];
    geometry.padding[i] = conv.get_pre_padding()[i - missing];
    geometry.stride[i] = conv.get_stride()[i - missing];
    geometry.dilation[i] = conv.get_dilation()[i - missing];
  }
  return geometry;
}

int64_t volume(const Spatial& extents) {
  return extents[0] * extents[1] * extents[2];
}

// Where window position `tap` of output position `y` reads; outside X it contributes nothing.
int64_t position(const Geometry& geometry, size_t axis, int64_t y, int64_t tap) {
  return y * geometry.stride[axis] + tap * geometry.dilation[axis] - geometry.padding[axis];
}

// y += weight x, over one channel, for one position of the window.
template <class Number>
void add_tap(const Geometry& geometry, const Spatial& tap, Number weight, const Number* x,
             Number* y) {
  auto is_inside = [&](size_t axis, int64_t at) { return at >= 0 && at < geometry.x[axis]; };
  for (int64_t d = 0; d < geometry.y[0]; ++d) {
    const int64_t x_d = position(geometry, 0, d, tap[0]);
    if (!is_inside(0, x_d)) continue;
    for (int64_t h = 0; h < geometry.y[1]; ++h) {
      const int64_t x_h = position(geometry, 1, h, tap[1]);
      if (!is_inside(1, x_h)) continue;
      const Number* x_row = x + (x_d * geometry.x[1] + x_h) * geometry.x[2];
      Number* y_row = y + (d * geometry.y[1] + h) * geometry.y[2];
      for (int64_t w = 0; w < geometry.y[2]; ++w) {
        const int64_t x_w = position(geometry, 2, w, tap[2]);
        if (is_inside(2, x_w)) y_row[w] = multiply_add(y_row[w], weight, x_row[x_w]);
      }
    }
  }
}

// All channels and window positions of one output channel of one image.
template <class Number>
void convolve(const Geometry& geometry, const Number* x, const Number* filter, Number* y) {
  const int64_t window = volume(geometry.window);
  for (int64_t c = 0; c < geometry.group_channels; ++c) {
    Spatial tap;
    for (tap[0] = 0; tap[0] < geometry.window[0]; ++tap[0])
      for (tap[1] = 0; tap[1] < geometry.window[1]; ++tap[1])
        for (tap[2] = 0; tap[2] < geometry.window[2]; ++tap[2]) {
          const int64_t at = (tap[0] * geometry.window[1] + tap[1]) * geometry.window[2] + tap[2];
          const Number weight = filter[c * window + (geometry.is_flipped ? window - 1 - at : at)];
          add_tap(geometry, tap, weight, x + c * volume(geometry.x), y);
        }
  }
}

}  // namespace

// All of X and W, and one channel of Y.
ElementCount scratch_elements(const Conv&, const ReferenceTensors& tensors) {
  auto elements = [](std::span<const int64_t> dims) {
    ElementCount product = 1;
    for (int64_t dim : dims) product *= dim;
    return product;
  };
  return elements(tensors.inputs[Conv::X].shape->dims) +
         elements(tensors.inputs[Conv::W].shape->dims) +
         elements(std::span(tensors.outputs[Conv::Y].shape->dims).subspan(2));
}

template <class Number>
void reference(const Conv& conv, const ReferenceTensors& tensors, Number* scratch) {
  const Geometry geometry = geometry_of(conv, tensors);
  const ReferenceTensor& output = tensors.outputs[Conv::Y];
  const int64_t x_channel = volume(geometry.x);
  const int64_t filter = geometry.group_channels * volume(geometry.window);
  Number* x = scratch;
  Number* w = x + geometry.batch * geometry.channels * x_channel;
  Number* y = w + geometry.outputs * filter;
  unpack(tensors.inputs[Conv::X], x);
  unpack(tensors.inputs[Conv::W], w);
  for (int64_t n = 0; n < geometry.batch; ++n)
    for (int64_t k = 0; k < geometry.outputs; ++k) {
      std::fill(y, y + volume(geometry.y), Number{});
      const int64_t first_channel =
          n * geometry.channels + k / geometry.group_outputs * geometry.group_channels;
      convolve(geometry, x + first_channel * x_channel, w + k * filter, y);
      const Number* next = y;
      for_each_index(std::span(output.shape->dims).subspan(2), [&](const Index& spatial) {
        Index index{n, k};
        std::copy_n(spatial.begin(), 3, index.begin() + 2);
        store(output, offset_of(*output.shape, index), *next++);
      });
    }
}

template void reference(const Conv&, const ReferenceTensors&, double*);
template void reference(const Conv&, const ReferenceTensors&, int64_t*);

}  // namespace warploom::ops
