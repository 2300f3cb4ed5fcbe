#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/pack.h"
#include "engines/cpu/kernels/simd.h"

// The micro-kernels that the compiler writes: all of the generic level, and double everywhere. The
// hot ones come from gemm_x86.gen.py.

extern "C" {
#if defined(__AVX512F__)
extern const warploom::cpu::GemmKernel warploom_gemm_avx512_float[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx512_int16[];
#elif defined(__AVX2__)
extern const warploom::cpu::GemmKernel warploom_gemm_avx2_float[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx2_int16[];
#endif
}

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

constexpr int kVectors = 2;  // of B, a step
constexpr int kRows = kVectorBytes == 64 ? 12 : 6;

/// One step of K in a format: `A` is what a row of A holds for it.
struct FloatStep {
  using A = float;
  using B = F32;
  using C = F32;
  static WARPLOOM_INLINE C multiply_add(A a, B b, C c) { return fma(splat(a), b, c); }
};

struct DoubleStep {
  using A = double;
  using B = F64;
  using C = F64;
  static WARPLOOM_INLINE C multiply_add(A a, B b, C c) { return fma(splat(a), b, c); }
};

struct Int16Step {  // pairs, the first in the low half
  using A = uint32_t;
  using B = U32;
  using C = U32;  // wraps, as int32 in hardware
  static WARPLOOM_INLINE C multiply_add(A a, B b, C c) {
    const I32 low = bits<I32>(b << 16) >> 16, high = bits<I32>(b) >> 16;
    const auto a_low = static_cast<int16_t>(a & 0xffff), a_high = static_cast<int16_t>(a >> 16);
    return c + bits<U32>(low) * static_cast<uint32_t>(int32_t{a_low}) +
           bits<U32>(high) * static_cast<uint32_t>(int32_t{a_high});
  }
};

template <class Step, int m>
void gemm(const GemmTile* tile) {
  using A = typename Step::A;
  using B = typename Step::B;
  using C = typename Step::C;
  C sum[m][kVectors];
  const auto c_vector = [&](int i, int j) {
    return reinterpret_cast<C*>(static_cast<char*>(tile->c) + i * tile->c_row_stride) + j;
  };
#pragma GCC unroll 16
  for (int i = 0; i < m; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) sum[i][j] = tile->accumulate != 0 ? *c_vector(i, j) : C{};
  }
  for (int64_t t = 0; t < tile->batch; ++t) {
    const char* a = static_cast<const char*>(tile->a) + t * tile->a_batch_stride;
    const B* b =
        reinterpret_cast<const B*>(static_cast<const char*>(tile->b) + t * tile->b_batch_stride);
    for (int64_t k = 0; k < tile->k_steps; ++k, a += sizeof(A), b += kVectors) {
#pragma GCC unroll 16
      for (int i = 0; i < m; ++i) {
        A element;
        __builtin_memcpy(&element, a + i * tile->a_row_stride, sizeof(A));
#pragma GCC unroll 2
        for (int j = 0; j < kVectors; ++j) {
          sum[i][j] = Step::multiply_add(element, b[j], sum[i][j]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < m; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) *c_vector(i, j) = sum[i][j];
  }
}

template <class Step>
constexpr GemmKernel kKernels[] = {
    nullptr,       gemm<Step, 1>, gemm<Step, 2>, gemm<Step, 3>,  gemm<Step, 4>,  gemm<Step, 5>,
    gemm<Step, 6>,
#if defined(__AVX512F__)
    gemm<Step, 7>, gemm<Step, 8>, gemm<Step, 9>, gemm<Step, 10>, gemm<Step, 11>, gemm<Step, 12>,
#endif
};

template <class Format>
GemmKernels kernels_of(int mr, int nr, const GemmKernel* kernels, int c_bytes, DataType_t a_type) {
  GemmKernels result;
  result.mr = mr;
  result.nr = nr;
  result.k_per_step = Format::kPerStep;
  result.a_bytes = sizeof(typename Format::Element);
  result.c_bytes = c_bytes;
  result.a_type = a_type;
  result.kernels = kernels;
  result.pack_a = pack_a<Format>;
  result.pack_b = pack_b<Format, kVectors * kVectorBytes /
                                     (Format::kPerStep * int{sizeof(typename Format::Element)})>;
  return result;
}

}  // namespace

#if defined(__AVX512F__)
constexpr int kAssemblyRows = 14;
#define WARPLOOM_KERNELS(format, Step) warploom_gemm_avx512_##format
#elif defined(__AVX2__)
constexpr int kAssemblyRows = 6;
#define WARPLOOM_KERNELS(format, Step) warploom_gemm_avx2_##format
#else
constexpr int kAssemblyRows = kRows;
#define WARPLOOM_KERNELS(format, Step) kKernels<Step>
#endif

GemmKernels float_gemm() {
  return kernels_of<FloatFormat>(kAssemblyRows, kVectors * kLanes<float>,
                                 WARPLOOM_KERNELS(float, FloatStep), 4, DataType_t::FLOAT);
}

GemmKernels int16_gemm() {
  return kernels_of<Int16Format>(kAssemblyRows, kVectors * kLanes<int32_t>,
                                 WARPLOOM_KERNELS(int16, Int16Step), 4, DataType_t::NOT_SET);
}

GemmKernels double_gemm() {
  return kernels_of<DoubleFormat>(kRows, kVectors * kLanes<double>, kKernels<DoubleStep>, 8,
                                  DataType_t::DOUBLE);
}

GemmKernels bfloat16_gemm() {
  return kernels_of<BFloat16Format>(kAssemblyRows, kVectors * kLanes<float>, nullptr, 4,
                                    DataType_t::BFLOAT16);
}

}  // namespace warploom::cpu::WARPLOOM_ISA
