#include <algorithm>
#include <array>

#include "ops/convolution_parts.h"
#include "ops/reference_families.h"

namespace warploom::ops {
namespace {

using Spatial = std::array<int64_t, 3>;

// A convolution in three spatial dimensions, the missing ones at the front with extent 1.
struct Geometry {
  int64_t batch, channels, outputs, group_channels, group_outputs;
  Spatial x, window, y;
  Spatial padding{0, 0, 0}, stride{1, 1, 1}, dilation{1, 1, 1};
  bool is_flipped;
};

int64_t volume(const Spatial& extents) {
  return extents[0] * extents[1] * extents[2];
}

Geometry geometry_of(const graph::ConvolutionFields& conv, const std::vector<int64_t>& x,
                     const std::vector<int64_t>& w, const std::vector<int64_t>& y) {
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

// Where window position `tap` of output position `y` reads; outside X it contributes nothing.
int64_t position(const Geometry& geometry, size_t axis, int64_t y, int64_t tap) {
  return y * geometry.stride[axis] + tap * geometry.dilation[axis] - geometry.padding[axis];
}

// Calls function(x offset, y offset), within one channel, for what one position of the window
// brings together.
template <class Function>
void for_each_pair(const Geometry& geometry, const Spatial& tap, Function&& function) {
  auto is_inside = [&](size_t axis, int64_t at) { return at >= 0 && at < geometry.x[axis]; };
  for (int64_t d = 0; d < geometry.y[0]; ++d) {
    const int64_t x_d = position(geometry, 0, d, tap[0]);
    if (!is_inside(0, x_d)) continue;
    for (int64_t h = 0; h < geometry.y[1]; ++h) {
      const int64_t x_h = position(geometry, 1, h, tap[1]);
      if (!is_inside(1, x_h)) continue;
      const int64_t x_row = (x_d * geometry.x[1] + x_h) * geometry.x[2];
      const int64_t y_row = (d * geometry.y[1] + h) * geometry.y[2];
      for (int64_t w = 0; w < geometry.y[2]; ++w) {
        const int64_t x_w = position(geometry, 2, w, tap[2]);
        if (is_inside(2, x_w)) function(x_row + x_w, y_row + w);
      }
    }
  }
}

// Calls function(x, w, y) with the offsets, all packed, of every product X W that Y is a sum of.
template <class Function>
void for_each_product(const Geometry& geometry, Function&& function) {
  const int64_t window = volume(geometry.window);
  for (int64_t n = 0; n < geometry.batch; ++n)
    for (int64_t k = 0; k < geometry.outputs; ++k)
      for (int64_t c = 0; c < geometry.group_channels; ++c) {
        const int64_t channel = k / geometry.group_outputs * geometry.group_channels + c;
        const int64_t x_begin = (n * geometry.channels + channel) * volume(geometry.x);
        const int64_t y_begin = (n * geometry.outputs + k) * volume(geometry.y);
        const int64_t w_begin = (k * geometry.group_channels + c) * window;
        Spatial tap;
        int64_t at = 0;
        for (tap[0] = 0; tap[0] < geometry.window[0]; ++tap[0])
          for (tap[1] = 0; tap[1] < geometry.window[1]; ++tap[1])
            for (tap[2] = 0; tap[2] < geometry.window[2]; ++tap[2], ++at) {
              const int64_t w = w_begin + (geometry.is_flipped ? window - 1 - at : at);
              for_each_pair(geometry, tap,
                            [&](int64_t x, int64_t y) { function(x_begin + x, w, y_begin + y); });
            }
      }
}

// All three tensors are packed in scratch: the given ones are read from there, and the sums
// accumulate there.
template <Convolution Attributes, class Number>
void compute(const Attributes& conv, const ReferenceTensors& tensors, Number* scratch) {
  constexpr ConvolutionParts kPart = kParts<Attributes>;
  auto tensor_of = [&](ConvolutionPort port) -> const ReferenceTensor& {
    return port.of(tensors.inputs, tensors.outputs);
  };
  auto place = [&](ConvolutionPort port) {
    const ReferenceTensor& tensor = tensor_of(port);
    Number* const begin = scratch;
    scratch += tensor.shape->volume();
    if (port.is_output)
      std::fill(begin, scratch, Number{});
    else
      unpack(tensor, begin);
    return begin;
  };
  Number* const x = place(kPart.x);
  Number* const w = place(kPart.w);
  Number* const y = place(kPart.y);
  const Geometry geometry =
      geometry_of(conv, tensor_of(kPart.x).shape->dims, tensor_of(kPart.w).shape->dims,
                  tensor_of(kPart.y).shape->dims);
  for_each_product(geometry, [&](int64_t x_at, int64_t w_at, int64_t y_at) {
    if constexpr (kPart.x.is_output)
      x[x_at] = multiply_add(x[x_at], w[w_at], y[y_at]);
    else if constexpr (kPart.w.is_output)
      w[w_at] = multiply_add(w[w_at], x[x_at], y[y_at]);
    else
      y[y_at] = multiply_add(y[y_at], w[w_at], x[x_at]);
  });
  pack(kPart.x.is_output ? x : kPart.w.is_output ? w : y, tensors.outputs[0]);
}

ElementCount all_elements(const ReferenceTensors& tensors) {
  ElementCount total = 0;
  for (const auto& list : {tensors.inputs, tensors.outputs})
    for (const ReferenceTensor& tensor : list) {
      if (!tensor) continue;
      ElementCount elements = 1;
      for (int64_t dim : tensor.shape->dims) elements *= dim;
      total += elements;
    }
  return total;
}

}  // namespace

ElementCount scratch_elements(const graph::Conv_fprop_attributes&,
                              const ReferenceTensors& tensors) {
  return all_elements(tensors);
}
ElementCount scratch_elements(const graph::Conv_dgrad_attributes&,
                              const ReferenceTensors& tensors) {
  return all_elements(tensors);
}
ElementCount scratch_elements(const graph::Conv_wgrad_attributes&,
                              const ReferenceTensors& tensors) {
  return all_elements(tensors);
}

template <class Number>
void reference(const graph::Conv_fprop_attributes& conv, const ReferenceTensors& tensors,
               Number* scratch) {
  compute(conv, tensors, scratch);
}
template <class Number>
void reference(const graph::Conv_dgrad_attributes& conv, const ReferenceTensors& tensors,
               Number* scratch) {
  compute(conv, tensors, scratch);
}
template <class Number>
void reference(const graph::Conv_wgrad_attributes& conv, const ReferenceTensors& tensors,
               Number* scratch) {
  compute(conv, tensors, scratch);
}

template void reference(const graph::Conv_fprop_attributes&, const ReferenceTensors&, double*);
template void reference(const graph::Conv_fprop_attributes&, const ReferenceTensors&, int64_t*);
template void reference(const graph::Conv_dgrad_attributes&, const ReferenceTensors&, double*);
template void reference(const graph::Conv_dgrad_attributes&, const ReferenceTensors&, int64_t*);
template void reference(const graph::Conv_wgrad_attributes&, const ReferenceTensors&, double*);
template void reference(const graph::Conv_wgrad_attributes&, const ReferenceTensors&, int64_t*);

}  // namespace warploom::ops
