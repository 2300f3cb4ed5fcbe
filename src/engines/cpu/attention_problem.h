#pragma once

#include <algorithm>
#include <optional>

#include "engines/cpu/plain_tensor.h"

namespace warploom::cpu {

/// The keys that a query row sees: [begin, end).
struct KeyRange {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

/// Lengths in use of one batch, and where its diagonal lies.
struct BatchMask {
  int64_t queries = 0, keys = 0;
  int64_t shift = 0;  ///< query i stands at key i + shift
  std::optional<int64_t> left, right;

  /// Grows with the query in both ends; empty for a query beyond the length.
  KeyRange visible(int64_t query) const {
    if (query >= queries) return {};
    KeyRange range{0, keys};
    if (left) range.begin = std::clamp<int64_t>(query + shift - *left + 1, 0, keys);
    if (right) range.end = std::clamp<int64_t>(query + shift + *right + 1, 0, keys);
    return range;
  }
};

/// An attention anchor on particular shapes: extents, masks, and the tensors that are read.
struct AttentionProblem {
  int64_t batch = 0, query_heads = 0, key_heads = 0, value_heads = 0;
  int64_t queries = 0, keys = 0, key_size = 0, value_size = 0;
  PlainTensor q, k, v, scale, bias, query_lengths, key_lengths, sink;
  double scale_value = 1;
  bool has_alibi = false;
  /// What a row of nothing but -inf gives is NaN, not 0.
  bool are_empty_rows_nan = false;
  std::optional<int64_t> left_bound, right_bound;
  DiagonalAlignment_t alignment = DiagonalAlignment_t::TOP_LEFT;
  /// Pointers of Stats, Max and Sum_exp; -1 when they are not wanted.
  struct RowOutput {
    int pointer = -1;
    DataType_t type = DataType_t::NOT_SET;
    ir::Shape shape;
  };
  RowOutput stats, maximum, sum;

  AttentionProblem() = default;
  AttentionProblem(const fusion::FusionGroup& group, ir::ShapeTable shapes,
                   const PlainInputs& inputs);
  /// Of the gradient of an attention: what the forward direction reads.
  static AttentionProblem backward(const fusion::FusionGroup& group, ir::ShapeTable shapes);
  /// Of a group that composes its attention of two matmuls and a softmax.
  static AttentionProblem composed(const fusion::FusionGroup& group, ir::ShapeTable shapes);

  /// Scores are multiplied by this.
  double scale_at_launch(const KernelTable& kernels, std::span<void* const> pointers,
                         const std::byte* workspace) const;
  BatchMask mask(const KernelTable& kernels, std::span<void* const> pointers,
                 const std::byte* workspace, int64_t batch_index) const;
  /// The score of the key without a value; -inf where there is none.
  double sink_at_launch(const KernelTable& kernels, std::span<void* const> pointers,
                        const std::byte* workspace, int64_t batch_index, int64_t head,
                        int64_t query) const;
  /// Strides of the bias over batch, head, query and key; 0 where it is broadcast.
  void bias_strides(int64_t (&strides)[4]) const;

 private:
  void set_extents();
  template <class Attention>
  void set_options(const fusion::FusionGroup& group, const Attention& attributes);
};

/// Which options of an attention the kernels here have.
engine::Verdict check_attention_options(const fusion::FusionGroup& group);

/// One element of a RowOutput.
void store_row_output(const AttentionProblem::RowOutput& output, std::span<void* const> pointers,
                      int64_t batch, int64_t head, int64_t query, double value,
                      const KernelTable& kernels);

}  // namespace warploom::cpu
