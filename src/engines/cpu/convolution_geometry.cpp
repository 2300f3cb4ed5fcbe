#include "engines/cpu/convolution_geometry.h"

#include <algorithm>

namespace warploom::cpu {

ConvolutionGeometry::ConvolutionGeometry(const graph::ConvolutionFields& fields,
                                         const ir::Shape& image, const ir::Shape& filter,
                                         const ir::Shape& response) {
  images = image.dims[0];
  channels = filter.dims[1];
  groups = channels == 0 ? 1 : std::max<int64_t>(image.dims[1] / channels, 1);
  filters = filter.dims[0] / groups;
  flips = fields.get_convolution_mode() == ConvolutionMode_t::CONVOLUTION;
  const size_t missing = 5 - image.dims.size();
  for (size_t i = 0; i < 3; ++i) {
    x[i] = window[i] = y[i] = stride[i] = dilation[i] = 1;
    padding[i] = 0;
    if (i < missing) continue;
    const size_t field = i - missing, axis = field + 2;
    x[i] = image.dims[axis];
    window[i] = filter.dims[axis];
    y[i] = response.dims[axis];
    stride[i] = fields.get_stride()[field];
    dilation[i] = fields.get_dilation()[field];
    padding[i] = fields.get_pre_padding()[field];
  }
}

double ConvolutionGeometry::flops() const {
  return 2 * static_cast<double>(images) * static_cast<double>(y_pixels()) *
         static_cast<double>(taps() * channels) * static_cast<double>(groups * filters);
}

ConvolutionStrides::ConvolutionStrides(const ir::Shape& shape)
    : outer(shape.strides[0]), channel(shape.strides[1]) {
  const size_t missing = 5 - shape.dims.size();
  for (size_t i = missing; i < 3; ++i) spatial[i] = shape.strides[i - missing + 2];
}

}  // namespace warploom::cpu
