#pragma once

#include "engines/cpu/kernels/elements.h"

// Elementary functions for compute types that have no vector code of their own: double through the
// C library, int64_t through double, rounded half to even.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

inline double sigmoid(double x) {
  const double e = __builtin_exp(-__builtin_fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/// sigmoid's derivative.
inline double sigmoid_slope(double x) {
  const double e = __builtin_exp(-__builtin_fabs(x));
  return e / ((1.0 + e) * (1.0 + e));
}

inline double softplus(double x) {
  return (x < 0.0 ? 0.0 : x) + __builtin_log1p(__builtin_exp(-__builtin_fabs(x)));
}

inline double gelu_erf(double x) {
  return 0.5 * x * __builtin_erfc(-x * 0.70710678118654752440);
}

inline double gelu_erf_slope(double x) {
  const double density = 0.39894228040143267794 * __builtin_exp(-0.5 * x * x);
  return 0.5 * __builtin_erfc(-x * 0.70710678118654752440) + x * density;
}

constexpr double kSqrt2OverPiDouble = 0.79788456080286535588;

inline double gelu_tanh(double x) {
  const double u = kSqrt2OverPiDouble * x * (1.0 + 0.044715 * x * x);
  return x * sigmoid(2.0 * u);
}

inline double gelu_tanh_slope(double x) {
  const double u = kSqrt2OverPiDouble * x * (1.0 + 0.044715 * x * x);
  const double du = kSqrt2OverPiDouble * (1.0 + 3.0 * 0.044715 * x * x);
  const double slope = sigmoid_slope(2.0 * u);
  const double tail = slope == 0.0 ? x - x : 2.0 * x * du * slope;  // x - x: NaN for infinity
  return sigmoid(2.0 * u) + tail;
}

/// f of every lane, in double.
template <class T, class F>
WARPLOOM_INLINE Vector<T> each_lane(Vector<T> v, F f) {
#pragma GCC unroll 1
  for (int i = 0; i < kLanes<T>; ++i) {
    v[i] = Codec<DataType_t::DOUBLE>::decode<T>(f(static_cast<double>(v[i])));
  }
  return v;
}
template <class T, class F>
WARPLOOM_INLINE Vector<T> each_lane(Vector<T> a, Vector<T> b, F f) {
#pragma GCC unroll 1
  for (int i = 0; i < kLanes<T>; ++i) {
    a[i] = Codec<DataType_t::DOUBLE>::decode<T>(
        f(static_cast<double>(a[i]), static_cast<double>(b[i])));
  }
  return a;
}

/// Towards zero; by zero as the infinity or NaN of the division in floats would be converted.
inline int64_t integer_divide(int64_t a, int64_t b) {
  if (b == 0) return a == 0 ? 0 : a < 0 ? INT64_MIN : INT64_MAX;
  if (b == -1) return a == INT64_MIN ? INT64_MAX : -a;
  return a / b;
}

inline int64_t integer_modulo(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
