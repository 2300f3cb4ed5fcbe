#pragma once
/// A frozen graph and a group made of operations by hand, without the layers above.
#include <memory>
#include <vector>

#include <warploom/fusion_group.h>

#include "ops/operation_runner.h"

namespace warploom::test {

struct FrozenGroup {
  std::shared_ptr<ir::FrozenGraph> graph = std::make_shared<ir::FrozenGraph>();
  std::vector<TensorPtr> tensors;  ///< by TensorId

  /// All operations in one group, checked in order. Its inputs are the tensors that none of them
  /// makes, stored scalars included; its outputs those that are not virtual. A virtual float gets
  /// the type in which it is carried.
  explicit FrozenGroup(std::vector<graph::Operation> operations,
                       const ops::GraphTypes& types = kAllFloat);

  fusion::FusionGroup group;
  ir::TensorId id(const TensorPtr& tensor) const;
  std::vector<ir::Shape> shapes() const;
};

}  // namespace warploom::test
