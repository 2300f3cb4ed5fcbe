#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <warploom/ops/pointwise.h>

// What the rows of pointwise.def are written with, and `apply`, which evaluates a row.

namespace warploom::ops {

/// The fields of Pointwise_attributes that some modes have, unset ones at their defaults.
struct PointwiseParameters {
  double relu_lower_clip = 0;
  double relu_upper_clip = std::numeric_limits<double>::infinity();
  double relu_lower_clip_slope = 0;
  double swish_beta = 1;
  double elu_alpha = 1;
  double softplus_beta = 1;

  PointwiseParameters() = default;
  explicit PointwiseParameters(const graph::Pointwise_attributes& attributes);
};

/// The mode's row for T = float, double or int64_t. Operands beyond the mode's are not looked at.
template <class T>
T apply(PointwiseMode_t mode, const PointwiseParameters& parameters, T x, T y, T z);
extern template float apply(PointwiseMode_t, const PointwiseParameters&, float, float, float);
extern template double apply(PointwiseMode_t, const PointwiseParameters&, double, double, double);
template <>
int64_t apply(PointwiseMode_t, const PointwiseParameters&, int64_t, int64_t, int64_t);

namespace formula {

using Parameters = PointwiseParameters;

// IEEE 754-2019 maximum and minimum: NaN wins, and +0 is above -0.
template <class T>
T maximum(T x, T y) {
  if (std::isnan(x)) return x;
  if (std::isnan(y)) return y;
  if (x == y) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

template <class T>
T minimum(T x, T y) {
  if (std::isnan(x)) return x;
  if (std::isnan(y)) return y;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

// No power of e overflows, and small results keep their digits.
template <class T>
T sigmoid(T x) {
  const T power = std::exp(-std::fabs(x));
  return (x < 0 ? power : T(1)) / (1 + power);
}

// A slope of 0 must not meet an infinity.
template <class T>
T relu(T x, const Parameters& p) {
  const T lower = T(p.relu_lower_clip), upper = T(p.relu_upper_clip);
  const T slope = T(p.relu_lower_clip_slope);
  T result = x;
  if (x < lower) result = slope == 0 ? lower : lower + slope * (x - lower);
  return result > upper ? upper : result;
}

template <class T>
T relu_gradient(T gradient, T x, const Parameters& p) {
  if (std::isnan(x)) return x;
  if (x <= T(p.relu_lower_clip)) {
    const T slope = T(p.relu_lower_clip_slope);
    return slope == 0 ? T(0) : slope * gradient;
  }
  return x >= T(p.relu_upper_clip) ? T(0) : gradient;
}

template <class T>
T elu(T x, const Parameters& p) {
  return x < 0 ? T(p.elu_alpha) * std::expm1(x) : x;
}

template <class T>
T elu_gradient(T gradient, T x, const Parameters& p) {
  if (std::isnan(x)) return x;
  return x < 0 ? gradient * T(p.elu_alpha) * std::exp(x) : gradient;
}

// erfc keeps the digits of the left tail, where 1 + erf cancels.
template <class T>
T normal_distribution(T x) {
  return T(0.5) * std::erfc(-x / std::numbers::sqrt2_v<T>);
}

template <class T>
T gelu(T x) {
  return x * normal_distribution(x);
}

template <class T>
T gelu_derivative(T x) {
  const T density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  return normal_distribution(x) + x * density;
}

// sqrt(2 / pi)
template <class T>
inline constexpr T kGeluScale = std::numbers::sqrt2_v<T>* std::numbers::inv_sqrtpi_v<T>;
template <class T>
inline constexpr T kGeluCubic = T(0.044715);

// (1 + tanh(u)) / 2 = sigmoid(2 u), without its cancellation.
template <class T>
T gelu_tanh(T x) {
  return x * sigmoid(2 * kGeluScale<T> * (x + kGeluCubic<T> * x * x * x));
}

template <class T>
T gelu_tanh_derivative(T x) {
  const T u = kGeluScale<T> * (x + kGeluCubic<T> * x * x * x);
  const T slope = kGeluScale<T> * (1 + 3 * kGeluCubic<T> * x * x);
  return sigmoid(2 * u) + x * 2 * sigmoid(2 * u) * sigmoid(-2 * u) * slope;
}

template <class T>
T softplus(T x, const Parameters& p) {
  const T beta = T(p.softplus_beta), scaled = beta * x;
  return (maximum(scaled, T(0)) + std::log1p(std::exp(-std::fabs(scaled)))) / beta;
}

template <class T>
T swish(T x, const Parameters& p) {
  return x * sigmoid(T(p.swish_beta) * x);
}

template <class T>
T swish_derivative(T x, const Parameters& p) {
  const T scaled = T(p.swish_beta) * x;
  return sigmoid(scaled) + scaled * sigmoid(scaled) * sigmoid(-scaled);
}

// Modulo 2^64, which signed arithmetic may not be.
inline int64_t wrap_add(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}
inline int64_t wrap_subtract(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
}
inline int64_t wrap_multiply(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}

// By zero: what the infinity or NaN of the same division in floats would be converted to.
inline int64_t integer_divide(int64_t x, int64_t y) {
  if (y == 0) return x == 0 ? 0 : x > 0 ? INT64_MAX : INT64_MIN;
  if (y == -1) return x == INT64_MIN ? INT64_MAX : -x;
  return x / y;
}
inline int64_t integer_modulo(int64_t x, int64_t y) {
  return y == 0 || y == -1 ? 0 : x % y;
}

int64_t integer_relu(int64_t x, const Parameters& p);

}  // namespace formula
}  // namespace warploom::ops
