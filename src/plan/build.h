#pragma once

#include <memory>

#include "plan/pack_table.h"
#include "plan/plan.h"
#include "plan/ranking.h"

namespace warploom::plan {

/// What all plans of a graph are built with.
struct BuildContext {
  Device device;
  std::vector<ir::Shape> shapes;  ///< by TensorId
  const PackTable& pack;
};

/// Builds the kernels that are not built yet and puts them together. The error of the first kernel
/// that cannot be built names its step.
Result<std::shared_ptr<const Plan>> build_plan(const Selection& selection,
                                               const BuildContext& context);

/// What the plan will need, by what its candidates say.
int64_t expected_workspace_bytes(const Selection& selection, const PackTable& pack);

}  // namespace warploom::plan
