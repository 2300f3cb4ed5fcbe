#pragma once
/// The rules by which groups may be joined.
#include <optional>
#include <string>
#include <vector>

#include "fusion/grouping.h"

namespace warploom::fusion {

/// Why `guest` cannot become part of what `host` computes on its domain; nothing when it can.
/// `guest` has no anchor.
std::optional<std::string> obstacle_to_epilogue(const Grouping& grouping, GroupId host,
                                                GroupId guest);

/// Why a reduction, a group of its own, cannot become an output of the group that computes what it
/// reduces.
std::optional<std::string> obstacle_to_reduction(const Grouping& grouping, GroupId host,
                                                 GroupId reduction);

/// Why `guest` cannot become a chain before the anchor of `host`.
std::optional<std::string> obstacle_to_prologue(const Grouping& grouping, GroupId host,
                                                GroupId guest);

/// What the bounds of a style are on; of two groups as if they were one.
struct GroupSize {
  size_t values = 0;  ///< of the epilogue
  size_t prologue_values = 0;
  size_t pointers = 0;
};
GroupSize measure(const Grouping& grouping, GroupId group, GroupId together = kNoId);

/// Whether a tensor of these dims can be read at every point of the domain: a lower rank is aligned
/// right, a dim of 1 repeats.
bool broadcasts_into(const std::vector<int64_t>& dims, const std::vector<int64_t>& domain);

}  // namespace warploom::fusion
