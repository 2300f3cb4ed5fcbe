#include "engines/cpu/kernels/rows.h"

#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/math_float.h"

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

/// Elements of a step: one vector of float, two of double.
constexpr int kStep = kLanes<float>;

WARPLOOM_INLINE TwoF64 load_step(const float* p) {
  return widen(load(p));
}
WARPLOOM_INLINE TwoF64 load_step(const double* p) {
  return {load(p), load(p + kLanes<double>)};
}
WARPLOOM_INLINE void store_step(float* p, TwoF64 v) {
  store(p, narrow(v));
}
WARPLOOM_INLINE void store_step(double* p, TwoF64 v) {
  store(p, v.low);
  store(p + kLanes<double>, v.high);
}

double sum_of_lanes(F64 v) {
  double result = v[0];
  for (int i = 1; i < kLanes<double>; ++i) result += v[i];
  return result;
}

template <class T>
double sum(const T* x, int64_t n) {
  F64 low{}, high{}, next_low{}, next_high{};
  int64_t i = 0;
  for (; i + 2 * kStep <= n; i += 2 * kStep) {
    const TwoF64 a = load_step(x + i), b = load_step(x + i + kStep);
    low += a.low, high += a.high, next_low += b.low, next_high += b.high;
  }
  double total = sum_of_lanes((low + high) + (next_low + next_high));
  for (; i < n; ++i) total += static_cast<double>(x[i]);
  return total;
}

template <class T>
double sum_of_squares(const T* x, int64_t n, double mean) {
  const F64 shift = splat(mean);
  F64 low{}, high{}, next_low{}, next_high{};
  int64_t i = 0;
  for (; i + 2 * kStep <= n; i += 2 * kStep) {
    const TwoF64 a = load_step(x + i), b = load_step(x + i + kStep);
    const F64 p = a.low - shift, q = a.high - shift, r = b.low - shift, s = b.high - shift;
    low = fma(p, p, low), high = fma(q, q, high);
    next_low = fma(r, r, next_low), next_high = fma(s, s, next_high);
  }
  double total = sum_of_lanes((low + high) + (next_low + next_high));
  for (; i < n; ++i) {
    const double left = static_cast<double>(x[i]) - mean;
    total += left * left;
  }
  return total;
}

template <class T>
void moments(const void* x, int64_t n, bool is_centered, double* mean, double* variance) {
  const auto* row = static_cast<const T*>(x);
  const auto count = static_cast<double>(n);
  *mean = is_centered ? sum(row, n) / count : 0.0;
  *variance = sum_of_squares(row, n, *mean) / count;
}

template <class T>
void normalize(const void* x, int64_t n, double mean, double factor, double offset, void* y) {
  const auto* row = static_cast<const T*>(x);
  auto* result = static_cast<T*>(y);
  const F64 shift = splat(mean), slope = splat(factor), rest = splat(offset);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const TwoF64 v = load_step(row + i);
    store_step(result + i, {fma(v.low - shift, slope, rest), fma(v.high - shift, slope, rest)});
  }
  for (; i < n; ++i)
    result[i] = static_cast<T>((static_cast<double>(row[i]) - mean) * factor + offset);
}

template <class T>
void normalize_scaled(const void* x, int64_t n, double mean, double factor, const void* scale,
                      const void* bias, void* y) {
  const auto* row = static_cast<const T*>(x);
  const auto *slopes = static_cast<const T*>(scale), *rests = static_cast<const T*>(bias);
  auto* result = static_cast<T*>(y);
  const F64 shift = splat(mean), slope = splat(factor);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const TwoF64 v = load_step(row + i), a = load_step(slopes + i), b = load_step(rests + i);
    store_step(result + i, {fma((v.low - shift) * slope, a.low, b.low),
                            fma((v.high - shift) * slope, a.high, b.high)});
  }
  for (; i < n; ++i)
    result[i] = static_cast<T>((static_cast<double>(row[i]) - mean) * factor *
                                   static_cast<double>(slopes[i]) +
                               static_cast<double>(rests[i]));
}

template <class T>
double maximum(const void* x, int64_t n) {
  const auto* row = static_cast<const T*>(x);
  constexpr int kWidth = kLanes<T>;
  Vector<T> greatest = splat(-static_cast<T>(__builtin_inf()));
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) greatest = nan_max(greatest, load(row + i));
  T result = greatest[0];
  const auto take = [&](T value) { result = result != result || value < result ? result : value; };
  for (int lane = 1; lane < kWidth; ++lane) take(greatest[lane]);
  for (; i < n; ++i) take(row[i]);
  return static_cast<double>(result);
}

double float_exponentials(const void* x, int64_t n, double maximum, void* y) {
  const auto* row = static_cast<const float*>(x);
  auto* result = static_cast<float*>(y);
  const F32 shift = splat(static_cast<float>(maximum));
  F64 low{}, high{};
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const F32 e = exp(load(row + i) - shift);
    store(result + i, e);
    const TwoF64 wide = widen(e);
    low += wide.low, high += wide.high;
  }
  double total = sum_of_lanes(low + high);
  if (i == n) return total;
  F32 tail{};
  for (int64_t lane = 0; i + lane < n; ++lane) tail[lane] = row[i + lane];
  tail = exp(tail - shift);
  for (int64_t lane = 0; i + lane < n; ++lane) {
    result[i + lane] = tail[lane];
    total += static_cast<double>(tail[lane]);
  }
  return total;
}

double double_exponentials(const void* x, int64_t n, double maximum, void* y) {
  const auto* row = static_cast<const double*>(x);
  auto* result = static_cast<double*>(y);
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += result[i] = __builtin_exp(row[i] - maximum);
  return total;
}

}  // namespace

RowKernels float_rows() {
  return {moments<float>, normalize<float>, normalize_scaled<float>, maximum<float>,
          float_exponentials};
}

RowKernels double_rows() {
  return {moments<double>, normalize<double>, normalize_scaled<double>, maximum<double>,
          double_exponentials};
}

}  // namespace warploom::cpu::WARPLOOM_ISA
