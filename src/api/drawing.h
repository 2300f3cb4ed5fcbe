#pragma once

#include <string>
#include <vector>

#include "fusion/partition.h"

namespace warploom {

/// A kernel of a plan.
struct DrawnGroup {
  const fusion::FusionGroup* group;
  std::string engine;
};

/// A self-contained SVG of a graph, sources above: operations as boxes, tensors in memory as pills,
/// kernels as coloured frames around what they run, read and write. Without groups the graph alone.
std::string draw_graph(const ir::FrozenGraph& graph, const std::vector<DrawnGroup>& groups);

}  // namespace warploom
