#pragma once

#include <warploom/types.h>

#include "engines/cpu/kernels/simd.h"

// One element of every storage type, converted from and to the compute types float, double and
// int64_t. Rounding is to nearest even and happens once; integers and 8-bit floats saturate; NaN
// becomes 0 in integers and true in booleans. Written without branches, so that loops over them
// become vector code.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

template <class T, class U>
constexpr bool kSame = false;
template <class T>
constexpr bool kSame<T, T> = true;

template <class T>
constexpr bool kIsInteger = kSame<T, int64_t>;

/// Rounds half to even; the callers clamp to a range where nothing but the fraction is lost.
WARPLOOM_INLINE float round_to_integer(float x) {
  constexpr float kMagic = 0x1.8p23f;  // good below 2^22, and vectorises on every level
  return (x + kMagic) - kMagic;
}
WARPLOOM_INLINE double round_to_integer(double x) {
  constexpr double kMagic = 0x1.8p52;
  return (x + kMagic) - kMagic;
}

/// To the nearest float, except that an inexact result gets an odd last bit: rounding it again to
/// fewer bits then gives what rounding the double once would.
WARPLOOM_INLINE float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  uint32_t pattern = float_to_bits(nearest);
  const double back = nearest;
  const bool inexact = back != x && x == x;
  const bool too_large = __builtin_fabs(back) > __builtin_fabs(x);
  pattern -= inexact && too_large ? 1 : 0;
  pattern |= inexact ? 1 : 0;
  return bits_to_float(pattern);
}

WARPLOOM_INLINE float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, rest = h & 0x7fff;
  // Moving the fields and multiplying by 2^112 rebiases the exponent, denormals included.
  const float scaled = bits_to_float(rest << 13) * 0x1p112f;
  const uint32_t special = rest >= 0x7c00 ? 0x7f800000u : 0u;  // infinity, NaN
  return bits_to_float(float_to_bits(scaled) | special | sign);
}

WARPLOOM_INLINE uint16_t float_to_half(float x) {
  const uint32_t pattern = float_to_bits(x), sign = pattern >> 16 & 0x8000;
  const uint32_t magnitude = pattern & 0x7fffffff;
  // Normal: rebias the exponent, round to even in integers; overflow runs into infinity by itself.
  const uint32_t clamped = magnitude < 0x47800000u ? magnitude : 0x47800000u;  // 65536
  const uint32_t normal = (clamped - 0x38000000u + 0xfff + (clamped >> 13 & 1)) >> 13;
  // Denormal: adding 1/2 lines the fraction up with the last bits of the sum, rounded.
  const float sum = bits_to_float(magnitude) + 0.5f;
  const uint32_t denormal = float_to_bits(sum) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000u ? denormal : normal;
  result = magnitude > 0x7f800000u ? 0x7e00u : result;
  return static_cast<uint16_t>(result | sign);
}

WARPLOOM_INLINE float bfloat16_to_float(uint16_t b) {
  return bits_to_float(static_cast<uint32_t>(b) << 16);
}

WARPLOOM_INLINE uint16_t float_to_bfloat16(float x) {
  const uint32_t pattern = float_to_bits(x);
  const uint32_t rounded = (pattern + 0x7fff + (pattern >> 16 & 1)) >> 16;
  const uint32_t quiet = pattern >> 16 | 0x40;
  return static_cast<uint16_t>((pattern & 0x7fffffff) > 0x7f800000u ? quiet : rounded);
}

/// An 8-bit float with `mantissa_bits`, whose exponent bias is `bias` and largest value `largest`.
template <int mantissa_bits, int bias, int largest>
struct Float8 {
  static uint8_t encode(float x, uint8_t nan) {
    const uint32_t pattern = float_to_bits(x), sign = pattern >> 24 & 0x80;
    const float magnitude = __builtin_fabsf(x);
    if (x != x) return nan;
    if (magnitude >= static_cast<float>(largest)) return static_cast<uint8_t>(kLargest | sign);
    // Scaled so that the format's denormals are those of float, minus the mantissa bits that the
    // integer addition rounds away.
    constexpr float kSmallest = bits_value(1 - bias);
    if (magnitude < kSmallest) {
      constexpr float kUnit = bits_value(1 - bias - mantissa_bits);
      return static_cast<uint8_t>(static_cast<uint32_t>(round_to_integer(magnitude / kUnit)) |
                                  sign);
    }
    constexpr int kShift = 23 - mantissa_bits;
    const uint32_t m = pattern & 0x7fffffff;
    const uint32_t rounded = (m - (static_cast<uint32_t>(127 - bias) << 23) +
                              ((1u << (kShift - 1)) - 1) + (m >> kShift & 1)) >>
                             kShift;
    return static_cast<uint8_t>((rounded < kLargest ? rounded : kLargest) | sign);
  }
  static WARPLOOM_INLINE float decode_finite(uint8_t b) {
    const uint32_t sign = static_cast<uint32_t>(b & 0x80) << 24;
    const float scaled = bits_to_float(static_cast<uint32_t>(b & 0x7f) << (23 - mantissa_bits)) *
                         bits_value(127 - bias);
    return bits_to_float(float_to_bits(scaled) | sign);
  }
  static constexpr float bits_value(int exponent) {  // 2^exponent
    float value = 1.0f;
    for (int i = 0; i < exponent; ++i) value *= 2.0f;
    for (int i = 0; i > exponent; --i) value *= 0.5f;
    return value;
  }
  static constexpr uint32_t kLargest = mantissa_bits == 3 ? 0x7e : 0x7b;
};
using E4M3 = Float8<3, 7, 448>;
using E5M2 = Float8<2, 15, 57344>;

/// Codec<type>: `Storage`, decode<T>(Storage) and encode(T).
template <DataType_t type>
struct Codec;

template <>
struct Codec<DataType_t::FLOAT> {
  using Storage = float;
  template <class T>
  static WARPLOOM_INLINE T decode(float x);
  template <class T>
  static WARPLOOM_INLINE float encode(T x) {
    return static_cast<float>(x);
  }
};

/// Saturates to [low, high] (both exact in T) and rounds half to even; NaN becomes 0.
template <class I, class T>
WARPLOOM_INLINE I saturate(T x) {
  constexpr bool kUnsigned = static_cast<I>(-1) > static_cast<I>(0);
  constexpr int kBits = 8 * static_cast<int>(sizeof(I));
  constexpr int64_t kHigh = kUnsigned ? (int64_t{1} << (kBits - 1)) * 2 - 1
                                      : static_cast<int64_t>(~uint64_t{0} >> (65 - kBits));
  constexpr int64_t kLow = kUnsigned ? 0 : -kHigh - 1;
  if constexpr (kIsInteger<T>) {
    x = x < kLow ? kLow : x;
    return static_cast<I>(x > kHigh ? kHigh : x);
  } else if constexpr (sizeof(I) <= 2 || (sizeof(I) == 4 && kSame<T, double>)) {
    x = x == x ? x : T{0};
    x = x < static_cast<T>(kLow) ? static_cast<T>(kLow) : x;
    x = x > static_cast<T>(kHigh) ? static_cast<T>(kHigh) : x;
    return static_cast<I>(static_cast<int32_t>(round_to_integer(x)));
  } else {
    // The bound kHigh is not a value of T: kHigh + 1, a power of two, is.
    const T bound = static_cast<T>(uint64_t{1} << (kBits - 1));
    const T rounded = sizeof(T) == 4 ? static_cast<T>(__builtin_rintf(static_cast<float>(x)))
                                     : static_cast<T>(__builtin_rint(static_cast<double>(x)));
    if (!(rounded == rounded)) return 0;
    if (rounded >= bound) return static_cast<I>(kHigh);
    if (rounded < -bound) return static_cast<I>(kLow);
    return static_cast<I>(rounded);
  }
}

template <class T>
WARPLOOM_INLINE T Codec<DataType_t::FLOAT>::decode(float x) {
  if constexpr (kIsInteger<T>) return saturate<int64_t>(x);
  return static_cast<T>(x);
}

template <>
struct Codec<DataType_t::DOUBLE> {
  using Storage = double;
  template <class T>
  static WARPLOOM_INLINE T decode(double x) {
    if constexpr (kIsInteger<T>) return saturate<int64_t>(x);
    return static_cast<T>(x);
  }
  template <class T>
  static WARPLOOM_INLINE double encode(T x) {
    return static_cast<double>(x);
  }
};

/// A float on the way to 16 or 8 bits.
template <class T>
WARPLOOM_INLINE float narrow_once(T x) {
  if constexpr (kSame<T, float>) return x;
  return round_to_odd(static_cast<double>(x));
}

template <>
struct Codec<DataType_t::HALF> {
  using Storage = uint16_t;
  template <class T>
  static WARPLOOM_INLINE T decode(uint16_t x) {
    return Codec<DataType_t::FLOAT>::decode<T>(half_to_float(x));
  }
  template <class T>
  static WARPLOOM_INLINE uint16_t encode(T x) {
    return float_to_half(narrow_once(x));
  }
};

template <>
struct Codec<DataType_t::BFLOAT16> {
  using Storage = uint16_t;
  template <class T>
  static WARPLOOM_INLINE T decode(uint16_t x) {
    return Codec<DataType_t::FLOAT>::decode<T>(bfloat16_to_float(x));
  }
  template <class T>
  static WARPLOOM_INLINE uint16_t encode(T x) {
    return float_to_bfloat16(narrow_once(x));
  }
};

template <class I>
struct IntegerCodec {
  using Storage = I;
  template <class T>
  static WARPLOOM_INLINE T decode(I x) {
    return static_cast<T>(x);
  }
  template <class T>
  static WARPLOOM_INLINE I encode(T x) {
    return saturate<I>(x);
  }
};
template <>
struct Codec<DataType_t::INT8> : IntegerCodec<int8_t> {};
template <>
struct Codec<DataType_t::UINT8> : IntegerCodec<uint8_t> {};
template <>
struct Codec<DataType_t::INT32> : IntegerCodec<int32_t> {};
template <>
struct Codec<DataType_t::INT64> : IntegerCodec<int64_t> {};

template <>
struct Codec<DataType_t::BOOLEAN> {
  using Storage = uint8_t;
  template <class T>
  static WARPLOOM_INLINE T decode(uint8_t x) {
    return static_cast<T>(x != 0);
  }
  template <class T>
  static WARPLOOM_INLINE uint8_t encode(T x) {
    return x != T{0};
  }
};

template <>
struct Codec<DataType_t::FP8_E4M3> {
  using Storage = uint8_t;
  template <class T>
  static WARPLOOM_INLINE T decode(uint8_t x) {
    const float value = (x & 0x7f) == 0x7f ? __builtin_nanf("") : E4M3::decode_finite(x);
    return Codec<DataType_t::FLOAT>::decode<T>(value);
  }
  template <class T>
  static WARPLOOM_INLINE uint8_t encode(T x) {
    return E4M3::encode(narrow_once(x), 0x7f);
  }
};

template <>
struct Codec<DataType_t::FP8_E5M2> {
  using Storage = uint8_t;
  template <class T>
  static WARPLOOM_INLINE T decode(uint8_t x) {
    return Codec<DataType_t::FLOAT>::decode<T>(half_to_float(static_cast<uint16_t>(x << 8)));
  }
  template <class T>
  static WARPLOOM_INLINE uint8_t encode(T x) {
    return E5M2::encode(narrow_once(x), 0x7f);
  }
};

/// Powers of two: the exponent of a float, without sign and zero. 2^-127 is a denormal float.
template <>
struct Codec<DataType_t::FP8_E8M0> {
  using Storage = uint8_t;
  template <class T>
  static WARPLOOM_INLINE T decode(uint8_t x) {
    const uint32_t pattern = x == 0 ? 0x00400000u : static_cast<uint32_t>(x) << 23;
    return Codec<DataType_t::FLOAT>::decode<T>(x == 0xff ? __builtin_nanf("")
                                                         : bits_to_float(pattern));
  }
  template <class T>
  static WARPLOOM_INLINE uint8_t encode(T x) {
    const float value = narrow_once(x);
    const uint32_t pattern = value > 0 ? float_to_bits(value) : 0;
    const uint32_t exponent = pattern >> 23, fraction = pattern & 0x7fffff;
    const uint32_t middle = exponent == 0 ? 0x600000 : 0x400000;
    const uint32_t rounded = exponent + (fraction > middle || (fraction == middle && exponent & 1));
    const uint32_t code = rounded < 0xfe ? rounded : 0xfe;
    return static_cast<uint8_t>(value == value ? code : 0xff);
  }
};

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
