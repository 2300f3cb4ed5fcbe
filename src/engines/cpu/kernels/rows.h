#pragma once

#include <cstdint>

// The row work of normalizations: contiguous rows of float or of double, any length. What is summed
// is summed in double, in an order that depends on the extents alone.

namespace warploom::cpu {

/// A row, the gradient for its normalized form (x - mean) inv_variance, and its statistics.
struct GradientRow {
  const void* dy = nullptr;
  const void* x = nullptr;
  double mean = 0, inv_variance = 1;
};

/// What a gradient is made of: dx = dy scale of_dy + (x - mean) of_x + offset.
struct GradientWeights {
  double of_dy = 0, of_x = 0, offset = 0;
};

struct RowKernels {
  /// Adds the sums of x - shift and of its squares.
  void (*shifted_sums)(const void* x, int64_t n, double shift, double* sum,
                       double* squares) = nullptr;
  /// y = (x - mean) factor + offset; may be in place.
  void (*normalize)(const void* x, int64_t n, double mean, double factor, double offset,
                    void* y) = nullptr;
  /// y = (x - mean) factor scale + bias; may be in place.
  void (*normalize_scaled)(const void* x, int64_t n, double mean, double factor,
                           const double* scale, const double* bias, void* y) = nullptr;
  /// The greatest element, NaN if there is one, -infinity over nothing.
  double (*maximum)(const void* x, int64_t n) = nullptr;
  /// y = exp(x - maximum), and the sum of it; may be in place.
  double (*exponentials)(const void* x, int64_t n, double maximum, void* y) = nullptr;

  /// Adds the sums of g = dy scale and of g times the normalized row. Without `scale` it is 1.
  void (*gradient_sums)(const GradientRow& row, const void* scale, int64_t n, double* sum,
                        double* products) = nullptr;
  /// dx may be in place of x or dy.
  void (*gradient)(const GradientRow& row, const void* scale, int64_t n,
                   const GradientWeights& weights, void* dx) = nullptr;
  /// Adds, element by element over the rows, dy times the normalized row to `dscale` and dy to
  /// `dbias`, both of double.
  void (*parameter_gradients)(const GradientRow* rows, int64_t count, int64_t n, double* dscale,
                              double* dbias) = nullptr;
};

/// A matrix of contiguous rows; strides in elements.
struct ColumnMatrix {
  const void* data = nullptr;
  int64_t stride = 0;
};

/// The same work where every column has statistics of its own; all of those are double.
struct ColumnKernels {
  /// Adds, for each column, the sums of x - shift and of its squares.
  void (*shifted_sums)(ColumnMatrix x, int64_t rows, int64_t columns, const double* shift,
                       double* sums, double* squares) = nullptr;
  /// y = (x - mean) factor + offset; may be in place.
  void (*normalize)(ColumnMatrix x, int64_t rows, int64_t columns, const double* mean,
                    const double* factor, const double* offset, void* y,
                    int64_t y_stride) = nullptr;
  /// Adds the sums of dy and of dy (x - mean).
  void (*gradient_sums)(ColumnMatrix dy, ColumnMatrix x, int64_t rows, int64_t columns,
                        const double* mean, double* sums, double* products) = nullptr;
  /// dx = dy of_dy + (x - mean) of_x + offset; may be in place of x or dy.
  void (*gradient)(ColumnMatrix dy, ColumnMatrix x, int64_t rows, int64_t columns,
                   const double* mean, const double* of_dy, const double* of_x,
                   const double* offset, void* dx, int64_t dx_stride) = nullptr;
};

}  // namespace warploom::cpu
