#pragma once

#include <optional>
#include <span>

#include "engines/cpu/bound_expression.h"

namespace warploom::cpu {

/// An epilogue that the micro-kernels do by themselves, clip(sum + bias) in float, right where the
/// result is stored. With a short sum over K, a tile program of its own costs as much as the sum.
class KernelEpilogue {
 public:
  /// None where the epilogue does more, or a tensor's rows or columns do not lie as kernels need
  /// them. `columns`: of one group.
  static std::optional<KernelEpilogue> make(const BoundExpression& epilogue,
                                            const GemmKernels& kernels, int64_t columns);

  /// Sets where the sums from (row, column) on go, and what becomes of them.
  void aim(GemmTile& tile, std::span<void* const> pointers, int64_t row, int64_t column) const;

 private:
  BoundExpression::Matrix result_;
  std::optional<BoundExpression::Matrix> bias_;
  bool computes_ = false;  // else the sums themselves are stored
  float lower_ = 0, upper_ = 0;
};

}  // namespace warploom::cpu
