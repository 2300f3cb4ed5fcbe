#pragma once

#include "engines/cpu/kernels/math_double_lanes.h"
#include "engines/cpu/kernels/math_float.h"
#include "engines/cpu/kernels/math_scalar.h"
#include "engines/cpu/kernels/tile_frame.h"

// Every pointwise mode on tiles.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

template <class T, class F>
WARPLOOM_INLINE void unary(TileFrame<T>& frame, const TileInstruction& instruction, F f) {
  const TileData<T> a = frame.values[instruction.inputs[0]];
  int rows = a.row_varies() ? frame.rows : 1;
  int columns = frame.padded_columns(a.column_varies);
  T* target = frame.define(instruction, a.row_varies(), a.column_varies);
  const int64_t step = frame.values[instruction.result].row_step;
  if (step == columns && a.row_step == columns) {  // one long row
    columns *= rows;
    rows = 1;
  }
  for (int i = 0; i < rows; ++i, target += step) {
    const T* source = a.row(i);
#pragma GCC unroll 2
    for (int j = 0; j < columns; j += kLanes<T>) store(target + j, f(load(source + j)));
  }
}

template <class T, class F>
WARPLOOM_INLINE void binary(TileFrame<T>& frame, const TileInstruction& instruction, F f) {
  const TileData<T> a = frame.values[instruction.inputs[0]],
                    b = frame.values[instruction.inputs[1]];
  const bool row_varies = a.row_varies() || b.row_varies();
  const bool column_varies = a.column_varies || b.column_varies;
  int rows = row_varies ? frame.rows : 1;
  int columns = frame.padded_columns(column_varies);
  T* target = frame.define(instruction, row_varies, column_varies);
  const int64_t step = frame.values[instruction.result].row_step;
  if (step == columns && a.row_step == columns && b.row_step == columns && a.column_varies &&
      b.column_varies) {
    columns *= rows;
    rows = 1;
  }
  for (int i = 0; i < rows; ++i, target += step) {
    const T *p = a.row(i), *q = b.row(i);
    if (a.column_varies == b.column_varies) {
      for (int j = 0; j < columns; j += kLanes<T>) store(target + j, f(load(p + j), load(q + j)));
    } else if (a.column_varies) {
      const Vector<T> y = splat<T>(q[0]);
      for (int j = 0; j < columns; j += kLanes<T>) store(target + j, f(load(p + j), y));
    } else {
      const Vector<T> x = splat<T>(p[0]);
      for (int j = 0; j < columns; j += kLanes<T>) store(target + j, f(x, load(q + j)));
    }
  }
}

template <class T>
void select(TileFrame<T>& frame, const TileInstruction& instruction) {
  TileData<T> in[3];
  bool row_varies = false, column_varies = false;
  for (int k = 0; k < 3; ++k) {
    in[k] = frame.values[instruction.inputs[k]];
    row_varies |= in[k].row_varies();
    column_varies |= in[k].column_varies;
  }
  const int rows = row_varies ? frame.rows : 1;
  const int columns = frame.padded_columns(column_varies);
  T* target = frame.define(instruction, row_varies, column_varies);
  const int64_t step = frame.values[instruction.result].row_step;
  for (int i = 0; i < rows; ++i, target += step) {
    const auto element = [&](int k, int j) {
      return in[k].column_varies ? load(in[k].row(i) + j) : splat<T>(in[k].row(i)[0]);
    };
    for (int j = 0; j < columns; j += kLanes<T>) {
      store(target + j, element(2, j) != 0 ? element(0, j) : element(1, j));
    }
  }
}

/// 1 where the comparison holds, else 0.
template <class T, class M>
WARPLOOM_INLINE Vector<T> truth(M mask) {
  return mask ? splat<T>(T{1}) : Vector<T>{};
}

// Elementary functions by compute type: vector code for float, lane by lane otherwise.
#define WARPLOOM_FUNCTION(name, lane)                           \
  template <class T>                                            \
  WARPLOOM_INLINE Vector<T> name##_of(Vector<T> v) {            \
    if constexpr (kSame<T, float>) {                            \
      return name(v);                                           \
    } else {                                                    \
      return each_lane<T>(v, [](double x) { return lane(x); }); \
    }                                                           \
  }
WARPLOOM_FUNCTION(exp, __builtin_exp)
WARPLOOM_FUNCTION(log, __builtin_log)
WARPLOOM_FUNCTION(sin, __builtin_sin)
WARPLOOM_FUNCTION(cos, __builtin_cos)
WARPLOOM_FUNCTION(tan, __builtin_tan)
WARPLOOM_FUNCTION(tanh, __builtin_tanh)
WARPLOOM_FUNCTION(erf, __builtin_erf)
WARPLOOM_FUNCTION(floor, __builtin_floor)
WARPLOOM_FUNCTION(ceil, __builtin_ceil)
WARPLOOM_FUNCTION(sigmoid, sigmoid)
WARPLOOM_FUNCTION(gelu_erf, gelu_erf)
WARPLOOM_FUNCTION(gelu_tanh, gelu_tanh)
#undef WARPLOOM_FUNCTION

template <class T>
WARPLOOM_INLINE Vector<T> sqrt_of(Vector<T> v) {
  if constexpr (kIsInteger<T>) {
    return each_lane<T>(v, [](double x) { return __builtin_sqrt(x); });
  } else {
    return sqrt(v);
  }
}
template <class T>
WARPLOOM_INLINE Vector<T> divide(Vector<T> a, Vector<T> b) {
  if constexpr (kIsInteger<T>) {
    for (int i = 0; i < kLanes<T>; ++i) a[i] = integer_divide(a[i], b[i]);
    return a;
  } else {
    return a / b;
  }
}

/// IEEE 754-2019 maximum and minimum: NaN wins, and +0 is above -0.
template <class T>
WARPLOOM_INLINE Vector<T> maximum(Vector<T> a, Vector<T> b) {
  using Bits = decltype(a == b);
  const auto equal =
      reinterpret_cast<Vector<T>>(reinterpret_cast<Bits>(a) & reinterpret_cast<Bits>(b));
  return a == b ? equal : nan_max(a, b);
}
template <class T>
WARPLOOM_INLINE Vector<T> minimum(Vector<T> a, Vector<T> b) {
  using Bits = decltype(a == b);
  const auto equal =
      reinterpret_cast<Vector<T>>(reinterpret_cast<Bits>(a) | reinterpret_cast<Bits>(b));
  return a == b ? equal : nan_min(a, b);
}

// Without a slope the lower clip alone: 0 * infinity would be NaN.
template <class T>
WARPLOOM_INLINE Vector<T> relu(Vector<T> x, T lower, T upper, T slope) {
  const Vector<T> below = slope == T{0} ? splat<T>(lower) : lower + slope * (x - lower);
  return second_if_nan_min(splat<T>(upper), x < lower ? below : x);
}
inline double relu(double x, double lower, double upper, double slope) {
  const double result = x >= lower               ? x
                        : slope == 0.0 && x == x ? lower
                                                 : lower + slope * (x - lower);
  return result > upper ? upper : result;
}

/// The slope's own NaN is the input's.
template <class T>
WARPLOOM_INLINE Vector<T> relu_gradient(Vector<T> dy, Vector<T> x, T lower, T upper, T slope) {
  const Vector<T> below = slope == T{0} ? Vector<T>{} : slope * dy;
  const Vector<T> above = x >= upper ? Vector<T>{} : dy;
  return is_nan_or(x, x, x <= lower ? below : above);
}

template <class T>
void relu_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  const TilePointwise& p = instruction.pointwise;
  const double lower = p.relu_lower_clip, upper = p.relu_upper_clip;
  const double slope = p.relu_lower_clip_slope;
  const bool forward = p.mode == PointwiseMode_t::RELU_FWD;
  if constexpr (kIsInteger<T>) {
    if (forward) {
      unary<T>(frame, instruction, [=](I64 v) {
        for (int i = 0; i < kLanes<T>; ++i) {
          const auto x = static_cast<double>(v[i]);
          if (x < lower || x > upper) v[i] = saturate<int64_t>(relu(x, lower, upper, slope));
        }
        return v;
      });
    } else {
      binary<T>(frame, instruction, [=](I64 dy, I64 v) {
        return each_lane<T>(dy, v, [=](double d, double x) {
          return x <= lower ? (slope == 0.0 ? 0.0 : slope * d) : x >= upper ? 0.0 : d;
        });
      });
    }
  } else {
    const T low = static_cast<T>(lower), high = static_cast<T>(upper);
    const T factor = static_cast<T>(slope);
    if (forward) {
      unary<T>(frame, instruction, [=](Vector<T> x) { return relu<T>(x, low, high, factor); });
    } else {
      binary<T>(frame, instruction, [=](Vector<T> dy, Vector<T> x) {
        return relu_gradient<T>(dy, x, low, high, factor);
      });
    }
  }
}

/// f of a vector for float; g of each lane, in double, for the others.
template <class T, class F, class G>
WARPLOOM_INLINE void activation(TileFrame<T>& frame, const TileInstruction& instruction, F f, G g) {
  unary<T>(frame, instruction, [&](Vector<T> x) {
    if constexpr (kSame<T, float>) return f(x);
    return each_lane<T>(x, g);
  });
}

/// Gradients: dy times the slope at x.
template <class T, class F, class G>
WARPLOOM_INLINE void gradient(TileFrame<T>& frame, const TileInstruction& instruction, F f, G g) {
  binary<T>(frame, instruction, [&](Vector<T> dy, Vector<T> x) {
    if constexpr (kSame<T, float>) return dy * f(x);
    return each_lane<T>(dy, x, [&](double d, double v) { return d * g(v); });
  });
}

/// The modes with parameters, and the gradients.
template <class T>
void activation_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  const TilePointwise& p = instruction.pointwise;
  const double beta =
      p.mode == PointwiseMode_t::SOFTPLUS_FWD || p.mode == PointwiseMode_t::SOFTPLUS_BWD
          ? p.softplus_beta
          : p.swish_beta;
  const double alpha = p.elu_alpha;
  const float b = static_cast<float>(beta), a = static_cast<float>(alpha);
  switch (p.mode) {
    case PointwiseMode_t::ELU_FWD:
      return activation<T>(
          frame, instruction, [a](F32 x) { return x < 0.0f ? a * expm1_negative(x) : x; },
          [alpha](double x) { return x < 0.0 ? alpha * __builtin_expm1(x) : x; });
    case PointwiseMode_t::SOFTPLUS_FWD:
      return activation<T>(
          frame, instruction, [b](F32 x) { return softplus(b * x) / b; },
          [beta](double x) { return softplus(beta * x) / beta; });
    case PointwiseMode_t::SWISH_FWD:
      return activation<T>(
          frame, instruction, [b](F32 x) { return swish(x, b); },
          [beta](double x) { return x * sigmoid(beta * x); });
    case PointwiseMode_t::TANH_BWD:  // 1 - tanh^2 x = 4 sigmoid'(2 x)
      return gradient<T>(
          frame, instruction, [](F32 x) { return 4.0f * sigmoid_slope(2.0f * x); },
          [](double x) { return 4.0 * sigmoid_slope(2.0 * x); });
    case PointwiseMode_t::SIGMOID_BWD:
      return gradient<T>(
          frame, instruction, [](F32 x) { return sigmoid_slope(x); },
          [](double x) { return sigmoid_slope(x); });
    case PointwiseMode_t::ELU_BWD:
      return gradient<T>(
          frame, instruction, [a](F32 x) { return x >= 0.0f ? splat(1.0f) : a * exp(x); },
          [alpha](double x) { return x >= 0.0 ? 1.0 : alpha * __builtin_exp(x); });
    case PointwiseMode_t::SOFTPLUS_BWD:
      return gradient<T>(
          frame, instruction, [b](F32 x) { return sigmoid(b * x); },
          [beta](double x) { return sigmoid(beta * x); });
    case PointwiseMode_t::SWISH_BWD:
      return gradient<T>(
          frame, instruction, [b](F32 x) { return sigmoid(b * x) + b * x * sigmoid_slope(b * x); },
          [beta](double x) { return sigmoid(beta * x) + beta * x * sigmoid_slope(beta * x); });
    case PointwiseMode_t::GELU_BWD:
      return gradient<T>(
          frame, instruction, [](F32 x) { return gelu_erf_slope(x); },
          [](double x) { return gelu_erf_slope(x); });
    case PointwiseMode_t::GELU_APPROX_TANH_BWD:
      return gradient<T>(
          frame, instruction, [](F32 x) { return gelu_tanh_slope(x); },
          [](double x) { return gelu_tanh_slope(x); });
    default:
      break;
  }
}

template <class T>
void pointwise_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  using V = Vector<T>;
  const TilePointwise& p = instruction.pointwise;
  const auto apply1 = [&](auto f) { unary<T>(frame, instruction, f); };
  const auto apply2 = [&](auto f) { binary<T>(frame, instruction, f); };
  switch (p.mode) {
    case PointwiseMode_t::ADD:
      return apply2([](V a, V b) { return add(a, b); });
    case PointwiseMode_t::SUB:
      return apply2([](V a, V b) { return subtract(a, b); });
    case PointwiseMode_t::MUL:
      return apply2([](V a, V b) { return multiply(a, b); });
    case PointwiseMode_t::DIV:
      return apply2([](V a, V b) { return divide<T>(a, b); });
    case PointwiseMode_t::ADD_SQUARE:
      return apply2([](V a, V b) { return add(a, multiply(b, b)); });
    case PointwiseMode_t::MAX:
      return apply2([](V a, V b) { return maximum<T>(a, b); });
    case PointwiseMode_t::MIN:
      return apply2([](V a, V b) { return minimum<T>(a, b); });
    case PointwiseMode_t::MOD:
      return apply2([](V a, V b) {
        if constexpr (kIsInteger<T>) {
          for (int i = 0; i < kLanes<T>; ++i) a[i] = integer_modulo(a[i], b[i]);
          return a;
        }
        return each_lane<T>(a, b, [](double x, double y) { return __builtin_fmod(x, y); });
      });
    case PointwiseMode_t::POW:
      return apply2([](V a, V b) {
        if constexpr (kSame<T, float>) return pow(a, b);
        return each_lane<T>(a, b, [](double x, double y) { return __builtin_pow(x, y); });
      });
    case PointwiseMode_t::CMP_EQ:
      return apply2([](V a, V b) { return truth<T>(a == b); });
    case PointwiseMode_t::CMP_NEQ:
      return apply2([](V a, V b) { return truth<T>(a != b); });
    case PointwiseMode_t::CMP_GT:
      return apply2([](V a, V b) { return truth<T>(a > b); });
    case PointwiseMode_t::CMP_GE:
      return apply2([](V a, V b) { return truth<T>(a >= b); });
    case PointwiseMode_t::CMP_LT:
      return apply2([](V a, V b) { return truth<T>(a < b); });
    case PointwiseMode_t::CMP_LE:
      return apply2([](V a, V b) { return truth<T>(a <= b); });
    case PointwiseMode_t::LOGICAL_AND:
      return apply2([](V a, V b) { return truth<T>((a != 0) & (b != 0)); });
    case PointwiseMode_t::LOGICAL_OR:
      return apply2([](V a, V b) { return truth<T>((a != 0) | (b != 0)); });
    case PointwiseMode_t::LOGICAL_NOT:
      return apply1([](V a) { return truth<T>(a == 0); });
    case PointwiseMode_t::BINARY_SELECT:
      return select<T>(frame, instruction);

    case PointwiseMode_t::IDENTITY:
      return apply1([](V a) { return a; });
    case PointwiseMode_t::NEG:
      return apply1([](V a) { return kIsInteger<T> ? subtract(V{}, a) : -a; });
    case PointwiseMode_t::ABS:
      return apply1([](V a) { return absolute(a); });
    case PointwiseMode_t::SQRT:
      return apply1([](V a) { return sqrt_of<T>(a); });
    case PointwiseMode_t::RSQRT:
      return apply1([](V a) {
        if constexpr (!kIsInteger<T>) return V(T{1} / sqrt(a));
        return each_lane<T>(a, [](double x) { return 1.0 / __builtin_sqrt(x); });
      });
    case PointwiseMode_t::RECIPROCAL:
      return apply1([](V a) {
        if constexpr (!kIsInteger<T>) return V(T{1} / a);
        return each_lane<T>(a, [](double x) { return 1.0 / x; });
      });
    case PointwiseMode_t::CEIL:
      return apply1([](V a) { return kIsInteger<T> ? a : ceil_of<T>(a); });
    case PointwiseMode_t::FLOOR:
      return apply1([](V a) { return kIsInteger<T> ? a : floor_of<T>(a); });
    case PointwiseMode_t::EXP:
      return apply1([](V a) { return exp_of<T>(a); });
    case PointwiseMode_t::LOG:
      return apply1([](V a) { return log_of<T>(a); });
    case PointwiseMode_t::SIN:
      return apply1([](V a) { return sin_of<T>(a); });
    case PointwiseMode_t::COS:
      return apply1([](V a) { return cos_of<T>(a); });
    case PointwiseMode_t::TAN:
      return apply1([](V a) { return tan_of<T>(a); });
    case PointwiseMode_t::ERF:
      return apply1([](V a) { return erf_of<T>(a); });
    case PointwiseMode_t::TANH_FWD:
      return apply1([](V a) { return tanh_of<T>(a); });
    case PointwiseMode_t::SIGMOID_FWD:
      return apply1([](V a) { return sigmoid_of<T>(a); });
    case PointwiseMode_t::GELU_FWD:
      return apply1([](V a) { return gelu_erf_of<T>(a); });
    case PointwiseMode_t::GELU_APPROX_TANH_FWD:
      return apply1([](V a) { return gelu_tanh_of<T>(a); });
    case PointwiseMode_t::RELU_FWD:
    case PointwiseMode_t::RELU_BWD:
      return relu_tile<T>(frame, instruction);
    default:
      return activation_tile<T>(frame, instruction);
  }
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
