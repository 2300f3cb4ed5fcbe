#pragma once

#include <memory>

#include "engines/cpu/kernels/kernel_table.h"
#include "engines/cpu/plain_tensor.h"

namespace warploom::cpu {

/// One of the two matrices of a matmul, as the matrix product sees it: `extent` rows or columns of
/// the result times K, once per batch of the operand's own.
class GemmOperand {
 public:
  /// `extent_axis` and `k_axis`: of the tensor. `prologue` (may be null) must outlive this.
  void bind(const fusion::FusionGroup& group, ir::ShapeTable shapes, size_t port, int extent_axis,
            int k_axis, const CompiledExpression* prologue);

  int64_t extent() const { return extent_; }
  int64_t depth() const { return depth_; }
  int64_t extent_stride() const { return extent_stride_; }
  int64_t k_stride() const { return k_stride_; }
  DataType_t type() const { return type_; }
  int64_t element_bytes() const { return detail::get_data_type_size(type_); }
  bool has_prologue() const { return prologue_ != nullptr; }
  int64_t scratch_bytes() const { return has_prologue() ? expression_.scratch_bytes() : 0; }

  /// The batch of this operand that serves a batch of the result.
  int64_t own_batch(int64_t batch) const;
  int64_t own_batches() const { return own_batches_; }
  /// Makes rows of all batches rows of one, if they are evenly spaced in memory. Only for an
  /// operand with as many batches as the result.
  bool flatten_batches();

  const std::byte* data(std::span<void* const> pointers, int64_t own_batch) const;

  /// Rows [begin, end) and K [k_begin, k_end) computed by the prologue; element (r, k) goes to
  /// target + r * row_stride + k * k_stride elements.
  void run_prologue(const RunContext& context, int64_t own_batch, int64_t begin, int64_t end,
                    std::byte* target, int64_t target_element_bytes, int64_t row_stride,
                    int64_t k_stride) const;

 private:
  std::vector<int64_t> result_batch_dims_, own_batch_dims_, batch_strides_;
  int64_t own_batches_ = 1, extent_ = 0, depth_ = 0, extent_stride_ = 0, k_stride_ = 0;
  int64_t flattened_rows_ = 0;
  DataType_t type_ = DataType_t::NOT_SET;
  int pointer_ = -1;
  const CompiledExpression* prologue_ = nullptr;
  BoundExpression expression_;  // rows: own batches times extent; columns: K
};

}  // namespace warploom::cpu
