#pragma once

#include "engines/cpu/kernels/elements.h"

// Lines of elements, consecutive or strided, between storage types and compute types. One function
// a type, called by pointer: tiles and packing share them.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

/// Reads n elements, `stride` elements apart.
template <class T>
using ReadLine = void (*)(const void* source, int64_t stride, T* target, int n);
/// Writes them, each rounded once.
template <class T>
using WriteLine = void (*)(const T* source, void* target, int64_t stride, int n);

template <class T, DataType_t type>
void read_line(const void* source, int64_t stride, T* target, int n) {
  const auto* from = static_cast<const typename Codec<type>::Storage*>(source);
  if (stride == 1) {
    int j = 0;
#if defined(__F16C__)
    if constexpr (type == DataType_t::HALF && kSame<T, float>) {
      for (; j + 8 <= n; j += 8) {
        const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + j));
        _mm256_storeu_ps(target + j, _mm256_cvtph_ps(h));
      }
    }
#endif
    for (; j < n; ++j) target[j] = Codec<type>::template decode<T>(from[j]);
  } else {
#pragma GCC unroll 1
    for (int j = 0; j < n; ++j) target[j] = Codec<type>::template decode<T>(from[j * stride]);
  }
}

template <class T, DataType_t type>
void write_line(const T* source, void* target, int64_t stride, int n) {
  auto* to = static_cast<typename Codec<type>::Storage*>(target);
  if (stride == 1) {
    int j = 0;
#if defined(__F16C__)
    if constexpr (type == DataType_t::HALF && kSame<T, float>) {
      for (; j + 8 <= n; j += 8) {
        const __m256 v = _mm256_loadu_ps(source + j);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + j),
                         _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
      }
    }
#endif
    if constexpr ((type == DataType_t::INT8 || type == DataType_t::UINT8) && kSame<T, float>) {
      constexpr bool kSigned = type == DataType_t::INT8;
      const F32 low = splat(kSigned ? -128.0f : 0.0f), high = splat(kSigned ? 127.0f : 255.0f);
      for (; j + kLanes<float> <= n; j += kLanes<float>) {
        const F32 v = load(source + j);
        const F32 rounded = round_even(clamp(is_nan_or(v, F32{}, v), low, high));
        const I8 bytes = __builtin_convertvector(__builtin_convertvector(rounded, I32), I8);
        __builtin_memcpy(to + j, &bytes, sizeof(bytes));
      }
    }
    for (; j < n; ++j) to[j] = Codec<type>::encode(source[j]);
  } else {
#pragma GCC unroll 1
    for (int j = 0; j < n; ++j) to[j * stride] = Codec<type>::encode(source[j]);
  }
}

template <class T>
struct Lines {
  ReadLine<T> read = nullptr;
  WriteLine<T> write = nullptr;
  int bytes = 0;  // of an element in memory
};

/// Null functions for a type that no tensor can have here.
template <class T>
Lines<T> lines_of(DataType_t type) {
  switch (type) {
#define WARPLOOM_LINES(name)                                                 \
  case DataType_t::name:                                                     \
    return {read_line<T, DataType_t::name>, write_line<T, DataType_t::name>, \
            static_cast<int>(sizeof(typename Codec<DataType_t::name>::Storage))};
    WARPLOOM_LINES(FLOAT)
    WARPLOOM_LINES(DOUBLE)
    WARPLOOM_LINES(HALF)
    WARPLOOM_LINES(BFLOAT16)
    WARPLOOM_LINES(INT8)
    WARPLOOM_LINES(UINT8)
    WARPLOOM_LINES(INT32)
    WARPLOOM_LINES(INT64)
    WARPLOOM_LINES(BOOLEAN)
    WARPLOOM_LINES(FP8_E4M3)
    WARPLOOM_LINES(FP8_E5M2)
    WARPLOOM_LINES(FP8_E8M0)
#undef WARPLOOM_LINES
    default:
      return {};
  }
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
