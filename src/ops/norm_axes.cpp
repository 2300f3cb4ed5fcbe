#include "ops/norm_axes.h"

#include <algorithm>

namespace warploom::ops {

bool is_forward_normalization(const graph::Operation& operation) {
  return std::visit(
      []<class Attributes>(const Attributes&) { return ForwardNormalization<Attributes>; },
      operation);
}

FixedDims aligned_dims(std::span<const int64_t> dims, size_t rank) {
  FixedDims aligned(std::max(rank, dims.size()), 1);
  std::ranges::copy(dims, aligned.end() - dims.size());
  return aligned;
}

FixedDims channel_dims(std::span<const int64_t> x) {
  FixedDims dims(x.size(), 1);
  dims[1] = x[1];
  return dims;
}

FixedDims statistics_dims(NormAxes axes, std::span<const int64_t> x,
                          std::span<const int64_t> scale) {
  if (axes == NormAxes::kAllButChannels) return channel_dims(x);
  FixedDims dims = aligned_dims(x, x.size());
  if (axes == NormAxes::kSpatial) {
    std::fill(dims.begin() + 2, dims.end(), 1);
    return dims;
  }
  const FixedDims aligned = aligned_dims(scale, x.size());
  for (size_t axis = axes == NormAxes::kOfScaleInBatch ? 1 : 0; axis < x.size(); ++axis)
    if (aligned[axis] != 1) dims[axis] = 1;
  return dims;
}

FixedDims parameter_dims(NormAxes axes, std::span<const int64_t> x,
                         std::span<const int64_t> scale) {
  const bool is_of_scale = axes == NormAxes::kOfScale || axes == NormAxes::kOfScaleInBatch;
  return is_of_scale ? aligned_dims(scale, x.size()) : channel_dims(x);
}

}  // namespace warploom::ops
