#pragma once

#include "plan/ranking.h"

namespace warploom::plan {

/// A group of a graph's partition as one of another graph, which differs from it in shapes alone.
fusion::FusionGroup group_on(const GroupSurvey& survey,
                             const std::shared_ptr<const ir::FrozenGraph>& graph);

/// Whether a selection that was made for one shape of a graph serves another: what it reads as
/// views are views, and its engines take its groups. GRAPH_NOT_SUPPORTED has the refusal.
error_t check_fit(const Selection& selection, const std::shared_ptr<const ir::FrozenGraph>& graph,
                  const Device& device);

}  // namespace warploom::plan
