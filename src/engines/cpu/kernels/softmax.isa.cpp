#include "engines/cpu/kernels/softmax.h"

#include "engines/cpu/kernels/elements.h"
#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/math_float.h"

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

constexpr int kWidth = kLanes<float>;
constexpr float kLn2 = 0.69314718055994531f;

void start(float* maximum, float* sum, int32_t rows) {
  for (int32_t i = 0; i < rows; ++i) {
    maximum[i] = -kInfinity;
    sum[i] = 0.0f;
  }
}

/// 2^x for x <= 0 (or a rounding error more), without denormal results.
WARPLOOM_INLINE F32 exp2_of_nonpositive(F32 x) {
  const F32 n = round_even(second_if_nan_max(splat(-126.0f), x)), r = x - n;
  const F32 p = polynomial(r, {1.0f, 0.6931472f, 0.2402265f, 0.055504046f, 0.009618083f,
                               0.0013338547f, 0.00015453876f, 1.4138333e-05f});
  const U32 power = bits<U32>(__builtin_convertvector(n, I32) << 23);
  const F32 y = bits<F32>(bits<U32>(p) + power);
  return x < -126.0f ? F32{} : y;
}

float largest_lane(F32 v) {
  float result = v[0];
  for (int i = 1; i < kWidth; ++i) result = v[i] > result ? v[i] : result;
  return result;
}

float sum_of_lanes(F32 v) {
  float result = v[0];
  for (int i = 1; i < kWidth; ++i) result += v[i];
  return result;
}

WARPLOOM_INLINE void store_bfloat16(uint16_t* target, F32 v) {
  const U32 pattern = bits<U32>(v);
  const U32 rounded = (pattern + 0x7fff + ((pattern >> 16) & 1)) >> 16;
  const U32 result = v == v ? rounded : (pattern >> 16 | 0x40);
  const U16 narrow = __builtin_convertvector(result, U16);
  __builtin_memcpy(target, &narrow, sizeof(narrow));
}

int limit(int value, int low, int high) {
  return value < low ? low : value > high ? high : value;
}

template <bool to_bfloat16>
WARPLOOM_INLINE void put(const SoftmaxBlock& block, int row, int column, F32 p) {
  if constexpr (to_bfloat16) {
    store_bfloat16(block.bfloat16 + row * block.bfloat16_stride + column, p);
  } else {
    store(block.scores + row * block.score_stride + column, p);
  }
}

template <bool to_bfloat16>
void update_row(const SoftmaxBlock& block, int row) {
  const int end = limit(block.end != nullptr ? block.end[row] : block.columns, 0, block.columns);
  const int begin = limit(block.begin != nullptr ? block.begin[row] : 0, 0, end);
  const int first = begin / kWidth * kWidth, last = (end + kWidth - 1) / kWidth * kWidth;
  float* scores = block.scores + row * block.score_stride;
  float largest = -kInfinity;
  const F32 factor = splat(block.scale * kLog2E);
  if (begin < end) {
    // Hidden columns in the outer vectors: selected away, whatever they hold.
    for (int j = first; j < begin; ++j) scores[j] = block.scale < 0.0f ? kInfinity : -kInfinity;
    for (int j = end; j < last; ++j) scores[j] = block.scale < 0.0f ? kInfinity : -kInfinity;
    F32 maximum = splat(-kInfinity);
    for (int j = first; j < last; j += kWidth) {
      maximum = second_if_nan_max(load(scores + j) * factor, maximum);
    }
    largest = largest_lane(maximum);
  }
  const float before = block.maximum[row];
  const float after = largest > before ? largest : before;
  // Nothing but -infinity so far: any finite number keeps the exponentials at 0.
  const F32 shift = splat(after == -kInfinity ? 0.0f : -after);
  F32 sum{};
  for (int j = 0; j < first; j += kWidth) put<to_bfloat16>(block, row, j, F32{});
  if (begin < end) {
    for (int j = first; j < last; j += kWidth) {
      const F32 p = exp2_of_nonpositive(fma(load(scores + j), factor, shift));
      sum += p;
      put<to_bfloat16>(block, row, j, p);
    }
  }
  for (int j = begin < end ? last : first; j < block.padded_columns; j += kWidth) {
    put<to_bfloat16>(block, row, j, F32{});
  }
  float rescale = 0.0f;
  if (before != -kInfinity) rescale = exp2_of_nonpositive(splat(before - after))[0];
  block.rescale[row] = rescale;
  block.sum[row] = block.sum[row] * rescale + sum_of_lanes(sum);
  block.maximum[row] = after;
}

void update(const SoftmaxBlock& block) {
  for (int row = 0; row < block.rows; ++row) {
    if (block.bfloat16 != nullptr) {
      update_row<true>(block, row);
    } else {
      update_row<false>(block, row);
    }
  }
}

void accumulate(float* output, int64_t output_stride, const float* product, int64_t product_stride,
                const float* rescale, int32_t rows, int32_t columns) {
  for (int32_t i = 0; i < rows; ++i, output += output_stride, product += product_stride) {
    if (rescale[i] == 0.0f) {
      for (int32_t j = 0; j < columns; ++j) output[j] = product[j];
    } else {
      const float factor = rescale[i];
      for (int32_t j = 0; j < columns; ++j) output[j] = output[j] * factor + product[j];
    }
  }
}

void finish(float* output, int64_t output_stride, const float* maximum, const float* sum,
            int32_t rows, int32_t columns, float* statistics, int64_t statistics_stride) {
  for (int32_t i = 0; i < rows; ++i, output += output_stride) {
    const bool empty = sum[i] == 0.0f;
    const float inverse = empty ? 0.0f : 1.0f / sum[i];
    for (int32_t j = 0; j < columns; ++j) output[j] = empty ? 0.0f : output[j] * inverse;
    if (statistics != nullptr) {
      statistics[i * statistics_stride] =
          empty ? -kInfinity : maximum[i] * kLn2 + __builtin_logf(sum[i]);
    }
  }
}

}  // namespace

SoftmaxKernels softmax_kernels() {
  return {start, update, accumulate, finish};
}

}  // namespace warploom::cpu::WARPLOOM_ISA
