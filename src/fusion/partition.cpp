#include "fusion/partition.h"

#include <algorithm>
#include <numeric>

#include "fusion/emit.h"
#include "fusion/make_partition.h"
#include "fusion/passes.h"

namespace warploom::fusion {

Grouping make_grouping(std::shared_ptr<const ir::FrozenGraph> graph,
                       std::span<const ir::NodeId> nodes, std::vector<bool> is_stored,
                       const Style& style) {
  Grouping grouping(std::move(graph), nodes, std::move(is_stored), style);
  drop_dead_nodes(grouping);
  mark_views(grouping);
  compose_attention(grouping);
  grow_epilogues(grouping);
  grow_prologues(grouping);
  join_regions(grouping);
  recompute_cheap_values(grouping);
  absorb_reductions(grouping);
  absorb_side_values(grouping);
  return grouping;
}

namespace {

Partition make_partition(const std::shared_ptr<const ir::FrozenGraph>& graph, const Style& style) {
  std::vector<ir::NodeId> nodes(graph->nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::vector<bool> is_stored;
  for (const ir::Tensor& tensor : graph->tensors) is_stored.push_back(!tensor.is_virtual);
  const Grouping grouping = make_grouping(graph, nodes, std::move(is_stored), style);
  return {style.name, emit_groups(grouping), emit_aliases(grouping), emit_stops(grouping)};
}

/// Whether two partitions have the same groups: the same nodes, in the same parts of the group.
bool is_alike(const Partition& a, const Partition& b) {
  return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                    [](const FusionGroup& x, const FusionGroup& y) {
                      return x.nodes == y.nodes && x.anchor == y.anchor &&
                             x.prologues.size() == y.prologues.size() && x.outputs == y.outputs;
                    });
}

}  // namespace

std::vector<Partition> partitions(std::shared_ptr<const ir::FrozenGraph> graph) {
  std::vector<Partition> offered;
  for (const Style& style : kStyles) {
    Partition partition = make_partition(graph, style);
    // Of two alike the first stays: its stops name what is in the way, not what its style forgoes.
    const auto alike = std::find_if(offered.begin(), offered.end(), [&](const Partition& other) {
      return is_alike(other, partition);
    });
    if (alike == offered.end())
      offered.push_back(std::move(partition));
    else if (style.name == kSingleOperations.name)
      std::rotate(alike, alike + 1, offered.end());
  }
  return offered;
}

}  // namespace warploom::fusion
