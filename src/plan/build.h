#pragma once

#include "plan/bind.h"

namespace warploom::plan {

/// A plan with the kernels that it was bound from, for other shapes.
struct BuiltPlan {
  std::vector<KernelPtr> kernels;
  Plan plan;
};

/// Builds the kernels that are not built yet and binds them to the target. The error of the first
/// kernel that cannot be built names its step.
Result<BuiltPlan> build_plan(const Selection& selection, const Device& device,
                             const BindTarget& target);

/// What the plan will need, by what its candidates say.
int64_t expected_workspace_bytes(const Selection& selection, const BindTarget& target);

}  // namespace warploom::plan
