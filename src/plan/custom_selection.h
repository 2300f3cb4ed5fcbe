#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plan/ranking.h"

namespace warploom::plan {

/// The offer of an engine for a group with these knobs in place of its own first choice; null when
/// the engine does not take the group.
OfferPtr offer_with_knobs(const GroupSurvey& survey, std::string_view engine,
                          const engine::KnobSettings& knobs);

/// The partition where `engine` does most, with these knobs on every group that it takes and the
/// best offer on the others; nothing where it takes no group.
std::optional<Selection> selection_by_engine(std::span<const PartitionPtr> partitions,
                                             std::string_view engine,
                                             const engine::KnobSettings& knobs);

/// The plan of this (full) name over one of these partitions.
std::optional<Selection> selection_by_name(std::span<const PartitionPtr> partitions,
                                           std::string_view name);

/// The engines that a plan name mentions, each once.
std::vector<std::string> engines_in(std::string_view name);

}  // namespace warploom::plan
