#pragma once

#include <string>
#include <vector>

#include "fusion/partition.h"

namespace warploom {

struct DrawnGroup {
  const fusion::FusionGroup* group;
  std::string engine;
};

std::string draw_graph(const ir::FrozenGraph& graph, const std::vector<DrawnGroup>& groups);

}  // namespace warploom
