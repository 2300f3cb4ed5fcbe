#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plan/ranking.h"

namespace warploom::plan {

/// A group of a graph's partition as one of another graph, which differs from it in shapes alone.
fusion::FusionGroup group_on(const GroupSurvey& survey,
                             const std::shared_ptr<const ir::FrozenGraph>& graph);

/// All groups of a selection, likewise.
std::vector<fusion::FusionGroup> groups_on(const Selection& selection,
                                           const std::shared_ptr<const ir::FrozenGraph>& graph);

/// Whether a selection that was made for one shape of a graph serves another, which its groups are
/// on: what it reads as views are views, and its engines take the groups. GRAPH_NOT_SUPPORTED has
/// the refusal.
error_t check_fit(const Selection& selection, std::span<const fusion::FusionGroup> groups,
                  const Device& device);

}  // namespace warploom::plan
