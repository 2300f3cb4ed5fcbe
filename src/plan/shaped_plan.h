#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/shape_inference.h"
#include "plan/bind.h"

namespace warploom::plan {

/// A plan for other shapes than those of its list, and what it is bound in, which serves the next
/// shapes as well.
class ShapedPlan {
 public:
  ShapedPlan(const Selection& selection, const std::shared_ptr<const ir::FrozenGraph>& graph);

  /// Microseconds; nothing is built. `kernels`: of `selection`, the one that this was made for. An
  /// error tells why the shapes contradict, or what the plan cannot do with them.
  error_t bind(const Selection& selection, std::span<const KernelPtr> kernels, const Device& device,
               const graph::ShapeOverrides& overrides);

  /// Of the last bind(), which was good.
  const BindTarget& target() const { return target_; }
  const Plan& plan() const { return *plan_; }

  /// Nobody, such as an engine of a user's, has kept the graph that the next bind() changes.
  bool owns_graph() const;

 private:
  graph::ShapeInference inference_;
  BindTarget target_;                        ///< on the inference's graph
  std::vector<fusion::FusionGroup> groups_;  ///< the selection's, on that graph
  std::optional<Plan> plan_;
};

}  // namespace warploom::plan
