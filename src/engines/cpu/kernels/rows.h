#pragma once

#include <cstdint>

// The row work of normalizations: contiguous rows of float or of double, any length. What is summed
// is summed in double, in an order that depends on the length alone.

namespace warploom::cpu {

struct RowKernels {
  /// The mean, or 0 unless `is_centered`, and the mean square of what is left without it. NaN over
  /// nothing.
  void (*moments)(const void* x, int64_t n, bool is_centered, double* mean,
                  double* variance) = nullptr;
  /// y = (x - mean) factor + offset; may be in place.
  void (*normalize)(const void* x, int64_t n, double mean, double factor, double offset,
                    void* y) = nullptr;
  /// y = (x - mean) factor scale + bias; may be in place.
  void (*normalize_scaled)(const void* x, int64_t n, double mean, double factor, const void* scale,
                           const void* bias, void* y) = nullptr;
  /// The greatest element, NaN if there is one, -infinity over nothing.
  double (*maximum)(const void* x, int64_t n) = nullptr;
  /// y = exp(x - maximum), and the sum of it; may be in place.
  double (*exponentials)(const void* x, int64_t n, double maximum, void* y) = nullptr;
};

}  // namespace warploom::cpu
