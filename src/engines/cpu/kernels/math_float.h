#pragma once

#include "engines/cpu/kernels/simd.h"

// Elementary functions of float vectors, within 1.5 units in the last place (tests/cpu_kernels
// measures them). The polynomials are minimax fits computed with sollya (fpminimax, coefficients in
// the precision in which they are used).

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

constexpr float kInfinity = __builtin_inff();
constexpr float kLog2E = 1.442695f;
// ln 2 in two parts; n * kLn2High is exact for the exponents n of float.
constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;

/// c[0] + c[1] x + ... as even and odd part, two chains half as long as Horner's: these functions
/// wait for their own results more than for the arithmetic units.
template <class V, class T, int n>
WARPLOOM_INLINE V polynomial(V x, const T (&c)[n]) {
  constexpr int kEven = (n - 1) / 2 * 2, kOdd = (n - 2) / 2 * 2 + 1;
  const V x2 = x * x;
  V even = splat<T>(c[kEven]), odd = splat<T>(c[kOdd]);
  for (int i = kEven - 2; i >= 0; i -= 2) even = fma(even, x2, splat<T>(c[i]));
  for (int i = kOdd - 2; i >= 1; i -= 2) odd = fma(odd, x2, splat<T>(c[i]));
  return fma(odd, x, even);
}

/// 2^n for an integral n in [-126, 127].
WARPLOOM_INLINE F32 power_of_two(F32 n) {
  return bits<F32>((__builtin_convertvector(n, I32) + 127) << 23);
}

/// v * 2^n for an integral n in [-252, 254], in two steps so that both infinity and denormal
/// results come out right.
WARPLOOM_INLINE F32 scale(F32 v, F32 n) {
#if defined(__AVX512F__)
  return _mm512_scalef_ps(v, n);
#else
  const I32 all = __builtin_convertvector(n, I32), half = all >> 1;
  return v * bits<F32>((half + 127) << 23) * bits<F32>((all - half + 127) << 23);
#endif
}

/// e^r - 1 for |r| <= ln 2 / 2.
WARPLOOM_INLINE F32 expm1_reduced(F32 r) {
  const F32 p =
      polynomial(r, {0.5f, 0.16666667f, 0.041666508f, 0.008333177f, 0.0013930865f, 0.00019972307f});
  return fma(r * r, p, r);
}

struct Reduced {
  F32 n;  // x = n ln 2 + r
  F32 r;
};
WARPLOOM_INLINE Reduced reduce_exponent(F32 x) {
  const F32 n = round_even(x * kLog2E);
  return {n, fma(n, splat(-kLn2Low), fma(n, splat(-kLn2High), x))};
}

WARPLOOM_INLINE F32 exp(F32 x) {
  const Reduced a = reduce_exponent(clamp(x, splat(-104.0f), splat(89.0f)));
  return scale(1.0f + expm1_reduced(a.r), a.n);
}

/// A value in two parts, the second a correction of the first.
struct Sum {
  F32 high, low;
};

/// What a b loses when it is rounded to `product`.
WARPLOOM_INLINE F32 product_rest(F32 a, F32 b, F32 product) {
#if defined(__FMA__)
  return fma(a, b, -product);
#else  // halves of 12 bits, whose products are exact (Dekker)
  const F32 a_high = 4097.0f * a - (4097.0f * a - a), a_low = a - a_high;
  const F32 b_high = 4097.0f * b - (4097.0f * b - b), b_low = b - b_high;
  return a_high * b_high - product + a_high * b_low + a_low * b_high + a_low * b_low;
#endif
}

/// e^(x + low) with what 1 + (e^r - 1) loses to rounding.
WARPLOOM_INLINE Sum exp_exactly(F32 x, F32 low) {
  const Reduced a = reduce_exponent(clamp(x, splat(-104.0f), splat(89.0f)));
  const F32 p = expm1_reduced(a.r + low);
  const F32 one = 1.0f + p;
  return {scale(one, a.n), scale(p - (one - 1.0f), a.n)};
}

WARPLOOM_INLINE F32 exp2(F32 x) {
  x = clamp(x, splat(-151.0f), splat(129.0f));
  const F32 n = round_even(x), r = x - n;
  const F32 p = polynomial(r, {0.6931472f, 0.2402265f, 0.055504046f, 0.009618083f, 0.0013338547f,
                               0.00015453876f, 1.4138333e-05f});
  return scale(fma(r, p, splat(1.0f)), n);
}

/// e^x - 1 for x <= 0.
WARPLOOM_INLINE F32 expm1_negative(F32 x) {
  const Reduced a = reduce_exponent(clamp(x, splat(-80.0f), splat(0.0f)));
  const F32 two_n = power_of_two(a.n);
  return fma(two_n, expm1_reduced(a.r), two_n - 1.0f);
}

/// log(1 + f) for 1 + f in [sqrt 1/2, sqrt 2].
WARPLOOM_INLINE F32 log1p_cubic(F32 f) {  // what remains after f - f^2 / 2
  return f * f * f *
         polynomial(f, {0.3333333f, -0.24999994f, 0.20000699f, -0.16668043f, 0.14249669f,
                        -0.12420646f, 0.11674778f, -0.11510554f, 0.070378706f});
}

struct Decomposed {
  F32 exponent;
  F32 mantissa;  // in [sqrt 1/2, sqrt 2)
};
WARPLOOM_INLINE Decomposed decompose(F32 x) {  // of a positive normal number
  // Subtracting sqrt 1/2 makes the exponent field change at sqrt 2 instead of at 2.
  const I32 shifted = bits<I32>(bits<U32>(x) - 0x3f3504f3u);
  const I32 exponent = shifted >> 23;
  return {__builtin_convertvector(exponent, F32),
          bits<F32>(bits<U32>(x) - bits<U32>(exponent << 23))};
}

/// log x + correction; the correction is tiny, for log1p.
WARPLOOM_INLINE F32 log_corrected(F32 x, F32 correction) {
  const I32 denormal = x < 0x1p-126f;
  const Decomposed a = decompose(denormal ? x * 0x1p23f : x);
  const F32 n = denormal ? a.exponent - 23.0f : a.exponent;
  const F32 f = a.mantissa - 1.0f;
  F32 tail = fma(n, splat(kLn2Low), log1p_cubic(f) + correction);
  tail = fma(f * f, splat(-0.5f), tail);
  F32 y = fma(n, splat(kLn2High), f + tail);
  y = x == kInfinity ? x : y;
  y = x == 0.0f ? splat(-kInfinity) : y;
  return x >= 0.0f ? y : splat(__builtin_nanf(""));
}

WARPLOOM_INLINE F32 log(F32 x) {
  return log_corrected(x, F32{});
}

/// log(1 + x) for x in [0, 1].
WARPLOOM_INLINE F32 log1p_unit(F32 x) {
  const F32 u = 1.0f + x;
  return log_corrected(u, (x - (u - 1.0f)) / u);
}

WARPLOOM_INLINE F32 tanh(F32 x) {
  const F32 magnitude = absolute(x), x2 = x * x;
  const F32 p = polynomial(
      x2, {-0.33333334f, 0.13333358f, -0.053966433f, 0.021807589f, -0.00843501f, 0.002370516f});
  const F32 small = fma(x * x2, p, x);
  const F32 large = 1.0f - 2.0f / (exp(2.0f * magnitude) + 1.0f);
  return magnitude < 0.625f ? small : with_sign(large, x);
}

/// log of the complementary error function, for x in [0.92, 4].
WARPLOOM_INLINE F32 log_erfc(F32 x) {
  return polynomial(x, {0.00029429625f, -0.13013156f, -0.63199526f, -0.10992522f, 0.026335547f,
                        -0.0047302814f, 0.0005907148f, -4.5354525e-05f, 1.6024884e-06f}) -
         x;
}

constexpr float kErfSplit = 0.921875f;

WARPLOOM_INLINE F32 erf_small(F32 x) {
  const F32 p = polynomial(x * x, {0.12837917f, -0.37612632f, 0.112836786f, -0.026858734f,
                                   0.005199769f, -0.0008131161f, 8.329439e-05f});
  return fma(x, p, x);
}

WARPLOOM_INLINE F32 erf(F32 x) {
  const F32 magnitude = absolute(x);
  const F32 large = 1.0f - exp(log_erfc(second_if_nan_min(splat(4.0f), magnitude)));
  return magnitude < kErfSplit ? erf_small(x) : with_sign(large, x);
}

/// 1 + erf x, that is erfc(-x), with the digits of its left tail. For z >= 0,
/// erfc z = t exp(P(t) - z^2), t = 1 / (1 + z / 2).
WARPLOOM_INLINE F32 one_plus_erf(F32 x) {
  const F32 z = second_if_nan_min(splat(10.5f), absolute(x));
  const F32 t = 1.0f / fma(z, splat(0.5f), splat(1.0f));
  const F32 p = polynomial(t, {-1.265453f, 0.99872553f, 0.38591257f, 0.037782114f, -0.0072998265f,
                               -0.06543381f, -0.71287197f, 1.1683682f, -0.68546355f, 0.14573374f});
  const F32 erfc = t * exp(fma(-z, z, p));
  return x < 0.0f ? erfc : 2.0f - erfc;
}

/// 1 / (1 + e^-(x + low)), a product with the reciprocal and its remainder. e^-|x| is at most 1, so
/// that e - ((1 + e) - 1) is what 1 + e loses.
WARPLOOM_INLINE Sum logistic(F32 x, F32 low) {
  const I32 is_negative = x < 0.0f;
  const Sum e = exp_exactly(-absolute(x), is_negative ? low : -low);
  const F32 denominator = 1.0f + e.high;
  const F32 lost = e.high - (denominator - 1.0f) + e.low;
  const F32 reciprocal = 1.0f / denominator;
  const F32 numerator = is_negative ? e.high : splat(1.0f);
  const F32 y = numerator * reciprocal, product = y * denominator;
  const F32 rest = (is_negative ? e.low : F32{}) - y * lost;
  return {y, (numerator - product - product_rest(y, denominator, product) + rest) * reciprocal};
}

WARPLOOM_INLINE F32 sigmoid(F32 x) {
  const Sum y = logistic(x, F32{});
  return y.high + y.low;
}

/// x y. Where x is huge, y has no correction that counts: 0 times infinity must not become NaN.
WARPLOOM_INLINE F32 multiply(F32 x, Sum y) {
  const F32 product = x * y.high;
  const F32 low = product_rest(x, y.high, product) + x * y.low;
  return absolute(x) < 0x1p60f ? product + low : product;
}

WARPLOOM_INLINE F32 swish(F32 x, float beta) {
  return multiply(x, logistic(beta * x, F32{}));
}

/// log(1 + e^x)
WARPLOOM_INLINE F32 softplus(F32 x) {
  return second_if_nan_max(F32{}, x) + log1p_unit(exp(-absolute(x)));
}

/// sigmoid(x) (1 - sigmoid(x))
WARPLOOM_INLINE F32 sigmoid_slope(F32 x) {
  const F32 e = exp(-absolute(x));
  return e / ((1.0f + e) * (1.0f + e));
}

WARPLOOM_INLINE F32 gelu_erf(F32 x) {
  return 0.5f * x * one_plus_erf(x * 0.70710678118654752f);
}

WARPLOOM_INLINE F32 gelu_erf_slope(F32 x) {
  const F32 density = 0.39894228040143268f * exp(-0.5f * x * x);
  return fma(splat(0.5f), one_plus_erf(x * 0.70710678118654752f), x * density);
}

constexpr float kSqrt2OverPi = 0.79788456080286535588f;

/// x/2 (1 + tanh u) with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x sigmoid(2 u). In the left
/// tail the error of 2 u is one of the result, as often as 2 u is large: so 2 u has two parts. From
/// 20 on the sigmoid is 0 or 1.
WARPLOOM_INLINE F32 gelu_tanh(F32 x) {
  constexpr double kLinear = 2 * 0.79788456080286535588, kCubic = kLinear * 0.044715;
  constexpr auto kLinearHigh = static_cast<float>(kLinear), kCubicHigh = static_cast<float>(kCubic);
  constexpr auto kLinearLow = static_cast<float>(kLinear - kLinearHigh);
  constexpr auto kCubicLow = static_cast<float>(kCubic - kCubicHigh);
  const F32 linear = splat(kLinearHigh), cubic = splat(kCubicHigh);
  const F32 v = clamp(x, splat(-20.0f), splat(20.0f)), v2 = v * v;
  const F32 square = cubic * v2;
  const F32 slope = linear + square, added = slope - linear;
  F32 low = (linear - (slope - added)) + (square - added);  // what the sum lost
  low = low +
        (product_rest(cubic, v2, square) + fma(cubic, product_rest(v, v, v2), kCubicLow * v2)) +
        kLinearLow;
  const F32 u = v * slope;
  return multiply(x, logistic(u, product_rest(v, slope, u) + v * low));
}

WARPLOOM_INLINE F32 gelu_tanh_slope(F32 x) {
  const F32 x2 = x * x;
  const F32 u = kSqrt2OverPi * x * fma(x2, splat(0.044715f), splat(1.0f));
  const F32 du = kSqrt2OverPi * fma(x2, splat(3 * 0.044715f), splat(1.0f));
  const F32 slope = sigmoid_slope(2.0f * u);
  const F32 tail = slope == 0.0f ? x - x : 2.0f * x * du * slope;  // x - x: NaN for infinity
  return sigmoid(2.0f * u) + tail;
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
