#pragma once
/// An attention problem, its answer by loops, and the check of every plan against it.
#include <optional>

#include "harness/describe.h"
#include "harness/plan_runner.h"

namespace warploom::test {

struct AttentionProblem {
  int64_t batches = 1, heads_q = 1, heads_k = 1, heads_v = 1;
  int64_t rows = 1, keys = 1, size_qk = 64, size_v = 64;
  DataType_t type = DataType_t::FLOAT;
  float scale = 1;
  DiagonalAlignment_t alignment = DiagonalAlignment_t::TOP_LEFT;
  std::optional<int64_t> left_bound, right_bound;
  /// Rows and keys in use per batch; a padding mask is set where they are given.
  std::optional<std::pair<Values, Values>> lengths;
  Dims length_dims;  ///< of the tensors of lengths; [batches, 1, 1, 1] unless given
  std::optional<Dims> bias_dims;
  DataType_t bias_type = DataType_t::FLOAT;
  /// Row-major unless given.
  Dims strides_q, strides_k, strides_v, strides_o;
  Values q, k, v, bias;

  Dims dims_q() const { return {batches, heads_q, rows, size_qk}; }
  Dims dims_k() const { return {batches, heads_k, keys, size_qk}; }
  Dims dims_v() const { return {batches, heads_v, keys, size_v}; }
  Dims dims_o() const { return {batches, heads_q, rows, size_v}; }
  void set_heads(int64_t of_q, int64_t of_kv) {
    heads_q = of_q;
    heads_k = heads_v = of_kv;
  }
  void set_size(int64_t size) { size_qk = size_v = size; }
  /// Fills q, k, v and bias with numbers between -1 and 1.
  void randomise(uint64_t seed = 1);
};

struct AttentionAnswer {
  Values o, stats;
};

/// The definition, in double, one score at a time.
AttentionAnswer attention_by_loops(const AttentionProblem& problem);

enum class Plans { kEvery, kFirst };
/// Fails the test where O or Stats is not what the loops give.
void check_attention(const AttentionProblem& problem, Plans plans = Plans::kEvery);

}  // namespace warploom::test
