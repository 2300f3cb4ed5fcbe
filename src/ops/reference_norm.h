#pragma once
#include <utility>

#include "ops/index_loop.h"

// The loops that all normalizations are made of. Tensors that are not there
// have no shape.

namespace warploom::ops {

/// Of the elements that one statistic is over; without a mean to subtract, of
/// their squares. Over nothing NaN.
struct Moments {
  double count = 0, mean = 0, variance = 0;
};
Moments moments(const ReferenceTensor& x, const FixedDims& statistics, const Index& at,
                bool is_centered);

double load_one(const ReferenceTensor& tensor);
/// At an index of `rank` dims, over which the tensor repeats.
double load_at(const ReferenceTensor& tensor, size_t rank, const Index& at);
/// Where there is a tensor.
void store_at(const ReferenceTensor& tensor, size_t rank, const Index& at, double value);

struct ForwardNorm {
  ReferenceTensor x, scale, bias, y;
  FixedDims statistics;
};
/// Y from X. `affine(at)` gives mean and 1 / sqrt(variance + epsilon) as a
/// pair, and is asked once for every statistic.
template <class Affine>
void normalize(const ForwardNorm& norm, Affine&& affine) {
  const size_t rank = norm.x.shape->dims.size();
  const auto parameter = [&](const ReferenceTensor& tensor, const Index& index, double otherwise) {
    return tensor ? load_at(tensor, rank, index) : otherwise;
  };
  for_each_index(norm.statistics, [&](const Index& at) {
    const auto normal = affine(at);
    const double mean = normal.first, inv_variance = normal.second;
    for_each_reduced_index(norm.x.shape->dims, norm.statistics, at, [&](const Index& index) {
      const double value = (load_at(norm.x, rank, index) - mean) * inv_variance;
      store_at(norm.y, rank, index,
               value * parameter(norm.scale, index, 1) + parameter(norm.bias, index, 0));
    });
  });
}

struct BackwardNorm {
  ReferenceTensor dy, x, scale, mean,
      inv_variance;                   ///< the last may be missing: computed
  ReferenceTensor dx, dscale, dbias;  ///< those that are wanted
  FixedDims statistics, parameters;
  double epsilon = 0;
  bool is_centered = true;
};
/// With g = DY SCALE, n = (X - MEAN) INV_VARIANCE, and averages over what a
/// statistic is over: DX = INV_VARIANCE (g - average(g) - n average(g n)),
/// DSCALE = sum of DY n, DBIAS = sum of DY. Not centered: without average(g).
/// `scratch`: two numbers for every statistic.
void differentiate(const BackwardNorm& norm, double* scratch);

}  // namespace warploom::ops
