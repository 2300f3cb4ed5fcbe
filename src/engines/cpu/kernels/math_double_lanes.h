#pragma once

#include "engines/cpu/kernels/math_float.h"

// Functions of float that need more than float on the way: computed in double, rounded at the end.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

/// f(low half), f(high half) of float vectors seen as double.
template <class F>
WARPLOOM_INLINE F32 in_double(F32 x, F f) {
  const TwoF64 v = widen(x);
  return narrow({f(v.low), f(v.high)});
}

struct SineCosine {
  F64 sine, cosine;
};

/// For |x| < 2^20: x = n pi/2 + r with pi/2 in two parts, of which n times the first is exact.
WARPLOOM_INLINE SineCosine sine_cosine(F64 x) {
  const F64 n = round_even(x * 0.6366197723675814);
  const F64 r = (x - n * 1.5707963267341256) - n * 6.077100506506192e-11;
  const F64 r2 = r * r;
  const F64 s =
      polynomial(r2, {1.0, -0.1666666666666389, 0.00833333333108135, -0.0001984126691869157,
                      2.7555991368907112e-06, -2.4805671651491168e-08});
  const F64 c =
      polynomial(r2, {1.0, -0.49999999999999967, 0.041666666666630076, -0.0013888888882051997,
                      2.4801582595550892e-05, -2.7555851047224057e-07, 2.0665243618182365e-09});
  // n modulo 4, read from the last bits of n + 1.5 * 2^52.
  const I64 quadrant = bits<I64>(n + 0x1.8p52);
  const F64 sine = r * s;
  const F64 first = (quadrant & 1) != 0 ? c : sine, second = (quadrant & 1) != 0 ? sine : c;
  const I64 sine_sign = (quadrant & 2) << 62, cosine_sign = ((quadrant + 1) & 2) << 62;
  return {bits<F64>(bits<I64>(first) ^ sine_sign), bits<F64>(bits<I64>(second) ^ cosine_sign)};
}

/// Arguments beyond 2^20 (infinity and NaN among them) are rare: the C library reduces those.
template <class F>
WARPLOOM_INLINE F32 large_by_library(F32 x, F32 y, F library) {
  const I32 large = ~(absolute(x) < 0x1p20f);
  if (any(large)) {
    for (int i = 0; i < kLanes<float>; ++i) {
      if (large[i] != 0) y[i] = static_cast<float>(library(static_cast<double>(x[i])));
    }
  }
  return y;
}

WARPLOOM_INLINE F32 sin(F32 x) {
  const F32 y = in_double(x, [](F64 v) { return sine_cosine(v).sine; });
  return large_by_library(x, y, [](double v) { return __builtin_sin(v); });
}
WARPLOOM_INLINE F32 cos(F32 x) {
  const F32 y = in_double(x, [](F64 v) { return sine_cosine(v).cosine; });
  return large_by_library(x, y, [](double v) { return __builtin_cos(v); });
}
WARPLOOM_INLINE F32 tan(F32 x) {
  const F32 y = in_double(x, [](F64 v) {
    const SineCosine a = sine_cosine(v);
    return a.sine / a.cosine;
  });
  return large_by_library(x, y, [](double v) { return __builtin_tan(v); });
}

/// log2 of a positive normal number.
WARPLOOM_INLINE F64 log2(F64 x) {
  const I64 shifted = bits<I64>(x) - 0x3fe6a09e667f3bcd;  // sqrt 1/2
  const I64 exponent = shifted >> 52;
  const F64 m = bits<F64>(bits<I64>(x) - (exponent << 52));
  const F64 s = (m - 1.0) / (m + 1.0);
  const F64 p = polynomial(
      s * s, {2.885390081777927, 0.9617966939243993, 0.5770780172339278, 0.4121984029218042,
              0.32061636967158913, 0.2614439352262258, 0.24292768380130236});
  // The exponent fits 11 bits: converted by way of 1.5 * 2^52, which every level can do.
  const F64 e = bits<F64>(exponent + 0x4338000000000000) - 0x1.8p52;
  return fma(s, p, e);
}

/// 2^x for |x| <= 1000.
WARPLOOM_INLINE F64 exp2(F64 x) {
  const F64 n = round_even(x), r = x - n;
  const F64 p = polynomial(
      r, {0.6931471805599462, 0.2402265069591012, 0.05550410866465084, 0.00961812910759547,
          0.001333355820091579, 0.0001540353045826461, 1.5262672859804444e-05,
          1.3215433747106068e-06, 1.0205917031896114e-07, 7.074160545136738e-09});
  const I64 power = bits<I64>(n + 0x1.8p52) << 52;  // the integer n, in the exponent's place
  return bits<F64>(bits<I64>(fma(r, p, splat(1.0))) + power);
}

/// x^y as the C library defines it, with its special cases.
WARPLOOM_INLINE F32 pow(F32 x, F32 y) {
  const F32 magnitude = absolute(x);
  const TwoF64 base = widen(magnitude), exponent = widen(y);
  const auto power = [](F64 b, F64 e) {
    return exp2(clamp(e * log2(b), splat(-1000.0), splat(1000.0)));
  };
  F32 result = narrow({power(base.low, exponent.low), power(base.high, exponent.high)});
  const I32 odd = __builtin_convertvector(y, I32) << 31;  // as a sign; large floats are even
  const F32 negative =
      round_even(y) == y ? bits<F32>(bits<I32>(result) ^ odd) : splat(__builtin_nanf(""));
  result = x < 0.0f ? negative : result;
  // Zero and what is not finite.
  const I32 special = ~((magnitude > 0.0f) & (magnitude < kInfinity) & (absolute(y) < kInfinity));
  if (any(special)) {
    for (int i = 0; i < kLanes<float>; ++i) {
      if (special[i] == 0) continue;
      const double exact = __builtin_pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
      result[i] = static_cast<float>(exact);
    }
  }
  return result;
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
