#pragma once

#include <cstdint>

// The row work of flash attention: an online softmax over blocks of columns (keys).

namespace warploom::cpu {

/// One block of scores: rows x columns of float, turned into unnormalised probabilities.
struct SoftmaxBlock {
  float* scores = nullptr;       ///< overwritten by the probabilities unless `bfloat16` is set
  int64_t score_stride = 0;      ///< elements
  uint16_t* bfloat16 = nullptr;  ///< if set: probabilities go here, rounded to bfloat16
  int64_t bfloat16_stride = 0;
  int32_t rows = 0;
  int32_t columns = 0;         ///< rows are written, with zeros, up to padded_columns
  int32_t padded_columns = 0;  ///< a multiple of 16; scores must have room
  /// The columns that each row may see: [begin, end), clamped by the callee. Null: all. What lies
  /// outside gets probability 0 whatever the score is, NaN included.
  const int32_t* begin = nullptr;
  const int32_t* end = nullptr;
  float scale = 1.0f;  ///< of the scores, before the exponential
  /// State, one of each per row: largest scaled score (times log2 e) and sum. Before the first
  /// block: start().
  float* maximum = nullptr;
  float* sum = nullptr;
  float* rescale = nullptr;  ///< out: by what the earlier output rows must be multiplied
};

struct SoftmaxKernels {
  void (*start)(float* maximum, float* sum, int32_t rows) = nullptr;
  void (*update)(const SoftmaxBlock& block) = nullptr;
  /// output[i][j] = output[i][j] * rescale[i] + product[i][j]. A rescale of 0 forgets what the
  /// output holds, NaN and garbage included.
  void (*accumulate)(float* output, int64_t output_stride, const float* product,
                     int64_t product_stride, const float* rescale, int32_t rows,
                     int32_t columns) = nullptr;
  /// output[i] /= sum[i] (0 for a row that saw no column), and, if statistics is not null,
  /// statistics[i * stride] = the natural logarithm of the sum of exponentials (-inf for such a
  /// row).
  void (*finish)(float* output, int64_t output_stride, const float* maximum, const float* sum,
                 int32_t rows, int32_t columns, float* statistics,
                 int64_t statistics_stride) = nullptr;
};

}  // namespace warploom::cpu
