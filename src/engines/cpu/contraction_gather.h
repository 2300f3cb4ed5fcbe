#pragma once

#include <memory>

#include "engines/cpu/plain_tensor.h"

namespace warploom::cpu {

/// A matmul or convolution as the product of two matrices that are gathered element by element.
/// Rows are the result's but for the column axis, flattened; they come in runs of `rows_per_batch`
/// that share B, columns in runs of `columns_per_group` that share A.
class ContractionGather {
 public:
  virtual ~ContractionGather() = default;

  int64_t rows = 0, columns = 0, depth = 0;
  int64_t rows_per_batch = 1, columns_per_group = 1;
  int column_axis = 0;  ///< of the result

  struct Memory {
    const KernelTable* kernels = nullptr;
    std::span<void* const> pointers;
    const std::byte* workspace = nullptr;
  };
  /// Elements [begin, begin + n) of the row of A that `row` needs for the group of `column`, as
  /// `type`.
  virtual void gather_a(const Memory& memory, int64_t row, int64_t column, int64_t begin, int64_t n,
                        void* target, DataType_t type) const = 0;
  /// Which of these elements of A lie outside the tensor, so that their products are left out: a
  /// flag each. Without: none.
  virtual bool marks_outside() const { return false; }
  virtual void mark_outside(int64_t row, int64_t begin, int64_t n, uint8_t* flags) const {
    (void)row, (void)begin, (void)n, (void)flags;
  }
  /// As gather_a, of the column of B, `stride` elements apart in the target.
  virtual void gather_b(const Memory& memory, int64_t row, int64_t column, int64_t begin, int64_t n,
                        void* target, DataType_t type, int64_t stride) const = 0;
};

std::unique_ptr<ContractionGather> make_contraction_gather(const fusion::FusionGroup& group,
                                                           ir::ShapeTable shapes,
                                                           const PlainInputs& inputs);

/// The same where the anchor is a convolution.
std::unique_ptr<ContractionGather> make_convolution_gather(const fusion::FusionGroup& group,
                                                           ir::ShapeTable shapes,
                                                           const PlainInputs& inputs);

}  // namespace warploom::cpu
