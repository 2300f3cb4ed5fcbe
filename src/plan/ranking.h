#pragma once

#include <span>
#include <vector>

#include "plan/survey.h"

namespace warploom::plan {

/// A plan in the making: who runs each group of a partition.
struct Selection {
  PartitionPtr partition;
  std::vector<OfferPtr> choices;  ///< one for each group
  double expected_microseconds = 0;
};

/// At most this many plans are listed for a heuristic mode.
inline constexpr size_t kMostPlans = 64;

/// Plans of these partitions, the least expected time first: the best offer of every group, and
/// from there one group varied at a time. The first kind is in the list for every partition,
/// however slow.
std::vector<Selection> rank(std::span<const PartitionPtr> partitions, size_t most = kMostPlans);

/// The best offer of every group.
Selection best_of(const PartitionPtr& partition);

}  // namespace warploom::plan
