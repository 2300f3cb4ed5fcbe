#pragma once

#include <span>

#include "plan/bind_target.h"
#include "plan/memory.h"
#include "plan/plan.h"
#include "plan/ranking.h"

namespace warploom::plan {

using KernelPtr = std::shared_ptr<const engine::Kernel>;

/// The kernels of a selection made ready for the target's shapes: arithmetic, microseconds.
/// `kernels`: one for each choice. The target's graph is the one that the selection was made for,
/// or differs from it in shapes alone. An error names the step.
Result<Plan> bind_plan(const Selection& selection, std::span<const KernelPtr> kernels,
                       const BindTarget& target);

/// An error of one step, with its place in front.
error_t step_error(const Selection& selection, size_t step, const error_t& error);

/// Where a plan's workspace is, and for what.
std::vector<WorkspaceRange> workspace_ranges(const Selection& selection, const Plan& plan,
                                             const BindTarget& target);

}  // namespace warploom::plan
