#include "engines/cpu/kernels/rows.h"

#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/math_float.h"
#include "engines/cpu/kernels/row_step.h"

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

double sum_of_lanes(F64 v) {
  double result = v[0];
  for (int i = 1; i < kLanes<double>; ++i) result += v[i];
  return result;
}

template <class T>
void shifted_sums(const void* x, int64_t n, double shift, double* sum, double* squares) {
  const auto* row = static_cast<const T*>(x);
  const F64 shifts = splat(shift);
  F64 sums[4]{}, products[4]{};
  int64_t i = 0;
  for (; i + 2 * kStep <= n; i += 2 * kStep) {
    const TwoF64 a = load_step(row + i), b = load_step(row + i + kStep);
    const F64 left[4]{a.low - shifts, a.high - shifts, b.low - shifts, b.high - shifts};
    for (int j = 0; j < 4; ++j) {
      sums[j] += left[j];
      products[j] = fma(left[j], left[j], products[j]);
    }
  }
  double total = sum_of_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
  double total_squares = sum_of_lanes((products[0] + products[1]) + (products[2] + products[3]));
  for (; i < n; ++i) {
    const double left = static_cast<double>(row[i]) - shift;
    total += left;
    total_squares += left * left;
  }
  *sum += total;
  *squares += total_squares;
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
void normalize_scaled(const void* x, int64_t n, double mean, double factor, const double* scale,
                      const double* bias, void* y) {
  const auto* row = static_cast<const T*>(x);
  auto* result = static_cast<T*>(y);
  const F64 shift = splat(mean), slope = splat(factor);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const TwoF64 v = load_step(row + i), a = load_step(scale + i), b = load_step(bias + i);
    store_step(result + i, {fma((v.low - shift) * slope, a.low, b.low),
                            fma((v.high - shift) * slope, a.high, b.high)});
  }
  for (; i < n; ++i)
    result[i] = static_cast<T>((static_cast<double>(row[i]) - mean) * factor * scale[i] + bias[i]);
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

template <bool is_scaled, class T>
WARPLOOM_INLINE TwoF64 load_gradient(const T* dy, const T* scale, int64_t i) {
  TwoF64 g = load_step(dy + i);
  if constexpr (is_scaled) {
    const TwoF64 s = load_step(scale + i);
    g.low *= s.low, g.high *= s.high;
  }
  return g;
}

template <bool is_scaled, class T>
WARPLOOM_INLINE double one_gradient(const T* dy, const T* scale, int64_t i) {
  const auto g = static_cast<double>(dy[i]);
  if constexpr (is_scaled) return g * static_cast<double>(scale[i]);
  return g;
}

template <class T, bool is_scaled>
void sum_gradient(const GradientRow& row, const T* scale, int64_t n, double* sum,
                  double* products) {
  const auto *dy = static_cast<const T*>(row.dy), *x = static_cast<const T*>(row.x);
  const F64 mean = splat(row.mean);
  F64 low{}, high{}, low_products{}, high_products{};
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const TwoF64 g = load_gradient<is_scaled>(dy, scale, i), v = load_step(x + i);
    low += g.low, high += g.high;
    low_products = fma(g.low, v.low - mean, low_products);
    high_products = fma(g.high, v.high - mean, high_products);
  }
  double total = sum_of_lanes(low + high);
  double total_products = sum_of_lanes(low_products + high_products);
  for (; i < n; ++i) {
    const double g = one_gradient<is_scaled>(dy, scale, i);
    total += g;
    total_products += g * (static_cast<double>(x[i]) - row.mean);
  }
  *sum += total;
  *products += total_products * row.inv_variance;
}

template <class T>
void gradient_sums(const GradientRow& row, const void* scale, int64_t n, double* sum,
                   double* products) {
  const auto* scales = static_cast<const T*>(scale);
  scales ? sum_gradient<T, true>(row, scales, n, sum, products)
         : sum_gradient<T, false>(row, scales, n, sum, products);
}

template <class T, bool is_scaled>
void write_gradient(const GradientRow& row, const T* scale, int64_t n,
                    const GradientWeights& weights, T* dx) {
  const auto *dy = static_cast<const T*>(row.dy), *x = static_cast<const T*>(row.x);
  const F64 mean = splat(row.mean), of_dy = splat(weights.of_dy), of_x = splat(weights.of_x);
  const F64 offset = splat(weights.offset);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const TwoF64 g = load_gradient<is_scaled>(dy, scale, i), v = load_step(x + i);
    store_step(dx + i, {fma(g.low, of_dy, fma(v.low - mean, of_x, offset)),
                        fma(g.high, of_dy, fma(v.high - mean, of_x, offset))});
  }
  for (; i < n; ++i)
    dx[i] =
        static_cast<T>(one_gradient<is_scaled>(dy, scale, i) * weights.of_dy +
                       ((static_cast<double>(x[i]) - row.mean) * weights.of_x + weights.offset));
}

template <class T>
void gradient(const GradientRow& row, const void* scale, int64_t n, const GradientWeights& weights,
              void* dx) {
  const auto* scales = static_cast<const T*>(scale);
  auto* result = static_cast<T*>(dx);
  scales ? write_gradient<T, true>(row, scales, n, weights, result)
         : write_gradient<T, false>(row, scales, n, weights, result);
}

template <class T>
void parameter_gradients(const GradientRow* rows, int64_t count, int64_t n, double* dscale,
                         double* dbias) {
  constexpr int kHalf = kLanes<double>;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    F64 low = load(dscale + i), high = load(dscale + i + kHalf);
    F64 low_bias = load(dbias + i), high_bias = load(dbias + i + kHalf);
    for (int64_t r = 0; r < count; ++r) {
      const GradientRow& row = rows[r];
      const TwoF64 g = load_step(static_cast<const T*>(row.dy) + i);
      const TwoF64 v = load_step(static_cast<const T*>(row.x) + i);
      const F64 mean = splat(row.mean), factor = splat(row.inv_variance);
      low = fma(g.low, (v.low - mean) * factor, low);
      high = fma(g.high, (v.high - mean) * factor, high);
      low_bias += g.low, high_bias += g.high;
    }
    store(dscale + i, low), store(dscale + i + kHalf, high);
    store(dbias + i, low_bias), store(dbias + i + kHalf, high_bias);
  }
  for (; i < n; ++i)
    for (int64_t r = 0; r < count; ++r) {
      const GradientRow& row = rows[r];
      const auto g = static_cast<double>(static_cast<const T*>(row.dy)[i]);
      const auto v = static_cast<double>(static_cast<const T*>(row.x)[i]);
      dscale[i] += g * ((v - row.mean) * row.inv_variance);
      dbias[i] += g;
    }
}

template <class T>
RowKernels rows_of(double (*exponentials)(const void*, int64_t, double, void*)) {
  return {shifted_sums<T>, normalize<T>,     normalize_scaled<T>, maximum<T>,
          exponentials,    gradient_sums<T>, gradient<T>,         parameter_gradients<T>};
}

}  // namespace

RowKernels float_rows() {
  return rows_of<float>(float_exponentials);
}

RowKernels double_rows() {
  return rows_of<double>(double_exponentials);
}

}  // namespace warploom::cpu::WARPLOOM_ISA
