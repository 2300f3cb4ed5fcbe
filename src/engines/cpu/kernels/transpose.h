#pragma once

#include "engines/cpu/kernels/simd.h"

// Transposition of blocks of 4-byte units: floats, or pairs of 16-bit elements.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

// Found in memory as other types, and perhaps only aligned for their halves.
typedef uint32_t Unit __attribute__((may_alias, aligned(2)));

constexpr int kTransposed = 8;  // rows and columns of a block

/// to[j * to_stride + i] = from[i * from_stride + j] for i, j < 8. Strides in units.
WARPLOOM_INLINE void transpose_block(const Unit* from, int64_t from_stride, Unit* to,
                                     int64_t to_stride) {
#if defined(__AVX2__)
  __m256 r[8], t[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(from + i * from_stride));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(reinterpret_cast<float*>(to + i * to_stride),
                     _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(reinterpret_cast<float*>(to + (i + 4) * to_stride),
                     _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
#else
  for (int i = 0; i < kTransposed; ++i) {
    for (int j = 0; j < kTransposed; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
#endif
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
