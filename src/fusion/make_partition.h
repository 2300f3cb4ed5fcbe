#pragma once
#include <memory>
#include <span>
#include <vector>

#include "fusion/grouping.h"

namespace warploom::fusion {

/// Runs all passes over some of a graph's nodes. `is_stored`, by tensor: written to memory whoever
/// reads it.
Grouping make_grouping(std::shared_ptr<const ir::FrozenGraph> graph,
                       std::span<const ir::NodeId> nodes, std::vector<bool> is_stored,
                       const Style& style);

}  // namespace warploom::fusion
