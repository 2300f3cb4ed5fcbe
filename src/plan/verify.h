#pragma once

#include <span>

#include "plan/bind_target.h"
#include "plan/plan.h"

namespace warploom::plan {

/// Runs the reference into memory of its own, then `plan`, and compares the outputs.
/// GRAPH_EXECUTION_FAILED names the tensor, the element and both values where they differ by more
/// than rounding. Both plans are bound to the target; `pack` is host memory. Allocates.
error_t execute_verified(const BindTarget& target, const Plan& plan, const Plan& reference,
                         void* stream, std::span<void* const> pack, void* workspace);

}  // namespace warploom::plan
