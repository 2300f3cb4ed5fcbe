#pragma once
/// Partitions of a graph into fusion groups.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <warploom/fusion_group.h>

namespace warploom::fusion {

/// Why a producer and a consumer are not in one group, or (consumer = kNoNode) why a node is in
/// none.
struct FusionStop {
  ir::NodeId producer = ir::kNoNode;
  ir::NodeId consumer = ir::kNoNode;
  std::string reason;
};

/// A virtual tensor that is a view of memory which `source` has: no kernel runs for it, and groups
/// read it with its own dims and strides. `source` is never itself such a view.
struct Alias {
  ir::TensorId tensor = ir::kNoTensor;
  ir::TensorId source = ir::kNoTensor;
};

/// Elements from the first of `alias.source` to the first of `alias.tensor`.
int64_t view_offset(const ir::FrozenGraph& graph, const Alias& alias, ir::ShapeTable shapes);

struct Partition {
  std::string_view style;           ///< how it was made, e.g. "without prologues"
  std::vector<FusionGroup> groups;  ///< a group reads what earlier ones wrote
  std::vector<Alias> aliases;
  std::vector<FusionStop> stops;
};

/// The partitions on offer: at most 8, no two alike, the most fused first, the last one of single
/// operations (it may be the first as well). Every node that an output depends on is in a group of
/// each, or is a view. Cheap nodes may be in several groups, which then compute them again instead
/// of reading them.
std::vector<Partition> partitions(std::shared_ptr<const ir::FrozenGraph> graph);

/// Finer groups that do the work of one that every engine refused, in the order in which they run:
/// a composed attention taken apart, else without its prologues, else without its reductions, else
/// with the epilogue cut, else single operations. A group of a single operation comes back alone.
std::vector<FusionGroup> split(const FusionGroup& group);

}  // namespace warploom::fusion
