#include <type_traits>
#include <utility>

#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/pack.h"
#include "engines/cpu/kernels/simd.h"

// The micro-kernels that the compiler writes: all of the generic level, and double everywhere. The
// hot ones come from gemm_x86.gen.py.

extern "C" {
#if defined(__AVX512F__)
extern const warploom::cpu::GemmKernel warploom_gemm_avx512_float[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx512_float_narrow[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx512_float_narrowest[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx512_int16[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx512_int16_narrow[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx512_int16_narrowest[];
#elif defined(__AVX2__)
extern const warploom::cpu::GemmKernel warploom_gemm_avx2_float[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx2_float_narrow[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx2_int16[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx2_int16_narrow[];
#endif
}

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

constexpr int kVectors = 2;  // of B, in a step of a panel
constexpr int kRows = kVectorBytes == 64 ? 12 : 6;
constexpr int kNarrowRows = 12;

/// One step of K in a format: `A` is what a row of A holds for it.
struct FloatStep {
  static constexpr bool kFinishes = true;
  using A = float;
  using B = F32;
  using C = F32;
  static WARPLOOM_INLINE C multiply_add(A a, B b, C c) { return fma(splat(a), b, c); }
};

struct DoubleStep {
  static constexpr bool kFinishes = false;
  using A = double;
  using B = F64;
  using C = F64;
  static WARPLOOM_INLINE C multiply_add(A a, B b, C c) { return fma(splat(a), b, c); }
};

struct Int16Step {  // pairs, the first in the low half
  static constexpr bool kFinishes = false;
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

template <class Step, int vectors, int m>
void gemm(const GemmTile* tile) {
  using A = typename Step::A;
  using B = typename Step::B;
  using C = typename Step::C;
  using BElement = std::remove_reference_t<decltype(B{}[0])>;
  using Element = std::remove_reference_t<decltype(C{}[0])>;
  C sum[m][vectors];
  const auto c_vector = [&](int i, int j) {
    return reinterpret_cast<Element*>(static_cast<char*>(tile->c) + i * tile->c_row_stride) +
           j * kLanes<Element>;
  };
#pragma GCC unroll 16
  for (int i = 0; i < m; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j)
      sum[i][j] = tile->accumulate != 0 ? load(c_vector(i, j)) : C{};
  }
  for (int64_t t = 0; t < tile->batch; ++t) {
    const char* a = static_cast<const char*>(tile->a) + t * tile->a_batch_stride;
    const auto* b = reinterpret_cast<const BElement*>(static_cast<const char*>(tile->b) +
                                                      t * tile->b_batch_stride);
    for (int64_t k = 0; k < tile->k_steps; ++k, a += sizeof(A), b += kVectors * kLanes<BElement>) {
      B of_step[vectors];
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) of_step[j] = load(b + j * kLanes<BElement>);
#pragma GCC unroll 16
      for (int i = 0; i < m; ++i) {
        A element;
        __builtin_memcpy(&element, a + i * tile->a_row_stride, sizeof(A));
#pragma GCC unroll 2
        for (int j = 0; j < vectors; ++j) {
          sum[i][j] = Step::multiply_add(element, of_step[j], sum[i][j]);
        }
      }
    }
  }
  if constexpr (Step::kFinishes) {
    if (tile->bias != nullptr) {
      const C lower = splat(tile->lower), upper = splat(tile->upper);
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) {
        const C bias = load(tile->bias + j * kLanes<float>);
#pragma GCC unroll 16
        for (int i = 0; i < m; ++i) sum[i][j] = clamp(sum[i][j] + bias, lower, upper);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < m; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) store(c_vector(i, j), sum[i][j]);
  }
}

/// Indexed by the number of rows.
template <int rows>
struct Kernels {
  GemmKernel of_rows[rows + 1];
};

template <class Step, int vectors, int... rows>
constexpr Kernels<int{sizeof...(rows)}> make_kernels(std::integer_sequence<int, rows...>) {
  return {{nullptr, gemm<Step, vectors, rows + 1>...}};
}
template <class Step>
constexpr auto kKernels = make_kernels<Step, kVectors>(std::make_integer_sequence<int, kRows>());
template <class Step>
constexpr auto kNarrowKernels =
    make_kernels<Step, 1>(std::make_integer_sequence<int, kNarrowRows>());

template <class Format>
GemmKernels kernels_of(GemmShape wide, GemmShape narrow, int c_bytes, DataType_t a_type) {
  GemmKernels result;
  static_cast<GemmShape&>(result) = wide;
  result.narrow = narrow;
  result.k_per_step = Format::kPerStep;
  result.a_bytes = sizeof(typename Format::Element);
  result.c_bytes = c_bytes;
  result.a_type = a_type;
  result.pack_a = pack_a<Format>;
  result.pack_b = pack_b<Format, kVectors * kVectorBytes /
                                     (Format::kPerStep * int{sizeof(typename Format::Element)})>;
  return result;
}

}  // namespace

#if defined(__AVX512F__)
constexpr int kAssemblyRows = 14, kNarrowAssemblyRows = 14;
#define WARPLOOM_KERNELS(format, Step) warploom_gemm_avx512_##format
#define WARPLOOM_NARROW_KERNELS(format, Step) warploom_gemm_avx512_##format##_narrow
#elif defined(__AVX2__)
constexpr int kAssemblyRows = 6, kNarrowAssemblyRows = 12;
#define WARPLOOM_KERNELS(format, Step) warploom_gemm_avx2_##format
#define WARPLOOM_NARROW_KERNELS(format, Step) warploom_gemm_avx2_##format##_narrow
#else
constexpr int kAssemblyRows = kRows, kNarrowAssemblyRows = kNarrowRows;
#define WARPLOOM_KERNELS(format, Step) kKernels<Step>.of_rows
#define WARPLOOM_NARROW_KERNELS(format, Step) kNarrowKernels<Step>.of_rows
#endif

GemmKernels float_gemm() {
  constexpr int kColumns = kLanes<float>;
  GemmKernels result = kernels_of<FloatFormat>(
      {kAssemblyRows, kVectors * kColumns, WARPLOOM_KERNELS(float, FloatStep)},
      {kNarrowAssemblyRows, kColumns, WARPLOOM_NARROW_KERNELS(float, FloatStep)}, 4,
      DataType_t::FLOAT);
#if defined(__AVX512F__)
  result.narrowest = {14, 8, warploom_gemm_avx512_float_narrowest};
#endif
  result.finishes = true;
  return result;
}

GemmKernels int16_gemm() {
  constexpr int kColumns = kLanes<int32_t>;
  GemmKernels result = kernels_of<Int16Format>(
      {kAssemblyRows, kVectors * kColumns, WARPLOOM_KERNELS(int16, Int16Step)},
      {kNarrowAssemblyRows, kColumns, WARPLOOM_NARROW_KERNELS(int16, Int16Step)}, 4,
      DataType_t::NOT_SET);
#if defined(__AVX512F__)
  result.narrowest = {14, 8, warploom_gemm_avx512_int16_narrowest};
#endif
  return result;
}

GemmKernels double_gemm() {
  constexpr int kColumns = kLanes<double>;
  return kernels_of<DoubleFormat>({kRows, kVectors * kColumns, kKernels<DoubleStep>.of_rows},
                                  {kNarrowRows, kColumns, kNarrowKernels<DoubleStep>.of_rows}, 8,
                                  DataType_t::DOUBLE);
}

// The kernels come with a higher level.
GemmKernels bfloat16_gemm() {
  constexpr int kColumns = kLanes<float>;
  GemmKernels result =
      kernels_of<BFloat16Format>({kAssemblyRows, kVectors * kColumns, nullptr},
                                 {kNarrowAssemblyRows, kColumns, nullptr}, 4, DataType_t::BFLOAT16);
  result.finishes = true;
  return result;
}

}  // namespace warploom::cpu::WARPLOOM_ISA
