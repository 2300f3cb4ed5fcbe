#pragma once
#include <map>
#include <vector>

#include "fusion/grouping.h"

namespace warploom::fusion {

/// Writes the straight-line code of one expression of a group.
class ExpressionBuilder {
 public:
  ExpressionBuilder(const Grouping& grouping, ir::TensorId domain);

  /// Value 0 of an epilogue.
  void add_anchor(StepId anchor);
  /// Adds a pointwise step, and loads of those operands that are no values yet.
  void add(StepId step);
  void store(StepId step);
  void reduce(StepId reduction);
  Expression take() { return std::move(expression_); }
  /// Tensors read so far, each once.
  const std::vector<ir::TensorId>& loads() const { return loads_; }

 private:
  int32_t append(ExpressionValue value);
  int32_t operand(StepId producer, ir::TensorId tensor);

  const Grouping& grouping_;
  Expression expression_;
  std::map<StepId, int32_t> values_;
  std::map<ir::TensorId, int32_t> loaded_;
  std::vector<ir::TensorId> loads_;
};

}  // namespace warploom::fusion
