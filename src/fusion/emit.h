#pragma once
#include <vector>

#include "fusion/grouping.h"
#include "fusion/partition.h"

namespace warploom::fusion {

/// The groups of a finished grouping, in an order in which they can run.
std::vector<FusionGroup> emit_groups(const Grouping& grouping);

std::vector<Alias> emit_aliases(const Grouping& grouping);

/// One stop for each pair of nodes of which one reads the other's result and which are not in one
/// group, and one for each dropped node.
std::vector<FusionStop> emit_stops(const Grouping& grouping);

}  // namespace warploom::fusion
