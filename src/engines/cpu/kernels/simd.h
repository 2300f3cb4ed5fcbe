#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// A thin layer over the compiler's vector extensions. One vector is as wide as the registers of the
// level that this file is compiled for. Everything has internal linkage: a weak symbol with AVX-512
// code in it could be picked by the linker for a machine without.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
  typedef T unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};

template <class T>
using Vector = typename VectorOf<T>::type;

using F32 = Vector<float>;
using F64 = Vector<double>;
using I32 = Vector<int32_t>;
using U32 = Vector<uint32_t>;
using I64 = Vector<int64_t>;
using U64 = Vector<uint64_t>;
// As many elements as F32 has, in narrower types.
typedef uint16_t U16 __attribute__((vector_size(kVectorBytes / 2)));
typedef int8_t I8 __attribute__((vector_size(kVectorBytes / 4)));
typedef uint8_t U8 __attribute__((vector_size(kVectorBytes / 4)));
typedef float HalfF32 __attribute__((vector_size(kVectorBytes / 2)));

#define WARPLOOM_INLINE inline __attribute__((always_inline))

template <class T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
WARPLOOM_INLINE Vector<T> load(const T* p) {
  return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(p);
}

template <class T>
WARPLOOM_INLINE void store(T* p, Vector<T> v) {
  *reinterpret_cast<typename VectorOf<T>::unaligned*>(p) = v;
}

template <class T>
WARPLOOM_INLINE Vector<T> splat(T x) {
  return x - Vector<T>{};  // not x + 0, which loses the sign of -0
}

/// The bits of one type of vector seen as another.
template <class To, class From>
WARPLOOM_INLINE To bits(From v) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To>(v);
}

WARPLOOM_INLINE float bits_to_float(uint32_t x) {
  return __builtin_bit_cast(float, x);
}
WARPLOOM_INLINE uint32_t float_to_bits(float x) {
  return __builtin_bit_cast(uint32_t, x);
}

// Arithmetic in which integers wrap, which signed ones may not do by themselves.
template <class V>
WARPLOOM_INLINE V add(V a, V b) {
  return a + b;
}
template <class V>
WARPLOOM_INLINE V subtract(V a, V b) {
  return a - b;
}
template <class V>
WARPLOOM_INLINE V multiply(V a, V b) {
  return a * b;
}
WARPLOOM_INLINE I64 add(I64 a, I64 b) {
  return bits<I64>(bits<U64>(a) + bits<U64>(b));
}
WARPLOOM_INLINE I64 subtract(I64 a, I64 b) {
  return bits<I64>(bits<U64>(a) - bits<U64>(b));
}
WARPLOOM_INLINE I64 multiply(I64 a, I64 b) {
  return bits<I64>(bits<U64>(a) * bits<U64>(b));
}
WARPLOOM_INLINE int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
WARPLOOM_INLINE int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// x86's order of operands: where a comparison with NaN is false, the second operand.
template <class V>
WARPLOOM_INLINE V second_if_nan_max(V a, V b) {
  return a > b ? a : b;
}
template <class V>
WARPLOOM_INLINE V second_if_nan_min(V a, V b) {
  return a < b ? a : b;
}

#if defined(__AVX512F__)
WARPLOOM_INLINE F32 second_if_nan_max(F32 a, F32 b) {
  return _mm512_max_ps(a, b);
}
WARPLOOM_INLINE F32 second_if_nan_min(F32 a, F32 b) {
  return _mm512_min_ps(a, b);
}
WARPLOOM_INLINE F32 fma(F32 a, F32 b, F32 c) {
  return _mm512_fmadd_ps(a, b, c);
}
WARPLOOM_INLINE F64 fma(F64 a, F64 b, F64 c) {
  return _mm512_fmadd_pd(a, b, c);
}
WARPLOOM_INLINE F32 sqrt(F32 a) {
  return _mm512_sqrt_ps(a);
}
WARPLOOM_INLINE F64 sqrt(F64 a) {
  return _mm512_sqrt_pd(a);
}
WARPLOOM_INLINE F32 round_even(F32 a) {
  return _mm512_roundscale_ps(a, 8);
}
WARPLOOM_INLINE F64 round_even(F64 a) {
  return _mm512_roundscale_pd(a, 8);
}
WARPLOOM_INLINE bool any(I32 mask) {
  return _mm512_movepi32_mask(bits<__m512i>(mask)) != 0;
}
WARPLOOM_INLINE bool any(I64 mask) {
  return _mm512_movepi64_mask(bits<__m512i>(mask)) != 0;
}
#elif defined(__AVX2__)
WARPLOOM_INLINE F32 second_if_nan_max(F32 a, F32 b) {
  return _mm256_max_ps(a, b);
}
WARPLOOM_INLINE F32 second_if_nan_min(F32 a, F32 b) {
  return _mm256_min_ps(a, b);
}
WARPLOOM_INLINE F32 fma(F32 a, F32 b, F32 c) {
  return _mm256_fmadd_ps(a, b, c);
}
WARPLOOM_INLINE F64 fma(F64 a, F64 b, F64 c) {
  return _mm256_fmadd_pd(a, b, c);
}
WARPLOOM_INLINE F32 sqrt(F32 a) {
  return _mm256_sqrt_ps(a);
}
WARPLOOM_INLINE F64 sqrt(F64 a) {
  return _mm256_sqrt_pd(a);
}
WARPLOOM_INLINE F32 round_even(F32 a) {
  return _mm256_round_ps(a, 8);
}
WARPLOOM_INLINE F64 round_even(F64 a) {
  return _mm256_round_pd(a, 8);
}
WARPLOOM_INLINE bool any(I32 mask) {
  return _mm256_movemask_epi8(bits<__m256i>(mask)) != 0;
}
WARPLOOM_INLINE bool any(I64 mask) {
  return _mm256_movemask_epi8(bits<__m256i>(mask)) != 0;
}
#else
WARPLOOM_INLINE F32 fma(F32 a, F32 b, F32 c) {
  return a * b + c;
}
WARPLOOM_INLINE F64 fma(F64 a, F64 b, F64 c) {
  return a * b + c;
}
WARPLOOM_INLINE F32 sqrt(F32 a) {
  for (int i = 0; i < kLanes<float>; ++i) a[i] = __builtin_sqrtf(a[i]);
  return a;
}
WARPLOOM_INLINE F64 sqrt(F64 a) {
  for (int i = 0; i < kLanes<double>; ++i) a[i] = __builtin_sqrt(a[i]);
  return a;
}
// Adding 2^23 (2^52) leaves no room for a fraction; larger numbers have none.
WARPLOOM_INLINE F32 round_even(F32 a) {
  const I32 sign = bits<I32>(a) & INT32_MIN;
  const F32 magnitude = bits<F32>(bits<I32>(a) & INT32_MAX);
  const F32 rounded = (magnitude + 0x1p23f) - 0x1p23f;
  return bits<F32>(bits<I32>(magnitude < 0x1p23f ? rounded : magnitude) | sign);
}
WARPLOOM_INLINE F64 round_even(F64 a) {
  const I64 sign = bits<I64>(a) & INT64_MIN;
  const F64 magnitude = bits<F64>(bits<I64>(a) & INT64_MAX);
  const F64 rounded = (magnitude + 0x1p52) - 0x1p52;
  return bits<F64>(bits<I64>(magnitude < 0x1p52 ? rounded : magnitude) | sign);
}
WARPLOOM_INLINE bool any(I32 mask) {
  int32_t result = 0;
  for (int i = 0; i < kLanes<int32_t>; ++i) result |= mask[i];
  return result != 0;
}
WARPLOOM_INLINE bool any(I64 mask) {
  return any(bits<I32>(mask));
}
#endif

template <class V>
WARPLOOM_INLINE V is_nan_or(V a, V if_nan, V otherwise) {
  return a != a ? if_nan : otherwise;
}

/// Maximum and minimum in which NaN wins. Integers pass through the comparison unharmed.
template <class V>
WARPLOOM_INLINE V nan_max(V a, V b) {
  return is_nan_or(a, a, second_if_nan_max(a, b));
}
template <class V>
WARPLOOM_INLINE V nan_min(V a, V b) {
  return is_nan_or(a, a, second_if_nan_min(a, b));
}

/// The value within [low, high]; NaN stays.
template <class V>
WARPLOOM_INLINE V clamp(V v, V low, V high) {
  return second_if_nan_min(high, second_if_nan_max(low, v));
}

WARPLOOM_INLINE F32 absolute(F32 v) {
  return bits<F32>(bits<I32>(v) & INT32_MAX);
}
WARPLOOM_INLINE F64 absolute(F64 v) {
  return bits<F64>(bits<I64>(v) & INT64_MAX);
}
WARPLOOM_INLINE I64 absolute(I64 v) {
  return v < 0 ? bits<I64>(-bits<U64>(v)) : v;
}

/// The magnitude of one and the sign of the other.
WARPLOOM_INLINE F32 with_sign(F32 magnitude, F32 sign) {
  return bits<F32>((bits<I32>(magnitude) & INT32_MAX) | (bits<I32>(sign) & INT32_MIN));
}

WARPLOOM_INLINE F32 floor(F32 a) {
  const F32 rounded = round_even(a);
  return with_sign(rounded > a ? rounded - 1.0f : rounded, a);
}
WARPLOOM_INLINE F32 ceil(F32 a) {
  const F32 rounded = round_even(a);
  return with_sign(rounded < a ? rounded + 1.0f : rounded, a);
}

/// F32 as two F64 and back.
struct TwoF64 {
  F64 low, high;
};
// Shuffled, not copied through an array: on a stack that a sanitizer lays out, GCC forgets to align
// it (GCC bug 110027).
template <int... i>
WARPLOOM_INLINE TwoF64 widen_halves(F32 v, std::integer_sequence<int, i...>) {
  return {__builtin_convertvector(HalfF32(__builtin_shufflevector(v, v, i...)), F64),
          __builtin_convertvector(HalfF32(__builtin_shufflevector(v, v, (i + kLanes<double>)...)),
                                  F64)};
}
template <int... i>
WARPLOOM_INLINE F32 joined(HalfF32 low, HalfF32 high, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(low, high, i...);
}
WARPLOOM_INLINE TwoF64 widen(F32 v) {
  return widen_halves(v, std::make_integer_sequence<int, kLanes<double>>());
}
WARPLOOM_INLINE F32 narrow(TwoF64 v) {
  return joined(__builtin_convertvector(v.low, HalfF32), __builtin_convertvector(v.high, HalfF32),
                std::make_integer_sequence<int, kLanes<float>>());
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
