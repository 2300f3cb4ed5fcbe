#pragma once

#include <span>
#include <string>

#include "plan/plan_list.h"

namespace warploom::plan {

/// Runs the oracle into memory of its own, then `plan`, and compares the outputs.
/// GRAPH_EXECUTION_FAILED names the tensor, the element and both values where they differ by more
/// than rounding. `pack` is host memory. Allocates.
error_t execute_verified(const PlanList& plans, const Plan& plan, const std::string& oracle,
                         void* stream, std::span<void* const> pack, void* workspace);

}  // namespace warploom::plan
