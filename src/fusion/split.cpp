#include "fusion/emit.h"
#include "fusion/make_partition.h"
#include "fusion/partition.h"

namespace warploom::fusion {

namespace {

/// Long expressions are cut in two before they are taken apart.
Style halved(Style style, const FusionGroup& group) {
  constexpr size_t kLong = 8;
  if (group.epilogue.values.size() > kLong) style.most_values = group.epilogue.values.size() / 2;
  return style;
}

}  // namespace

std::vector<FusionGroup> split(const FusionGroup& group) {
  std::vector<bool> is_stored(group.graph->tensors.size());
  for (ir::TensorId output : group.outputs) is_stored[static_cast<size_t>(output)] = true;
  // Each style gives up more than the one before. Pieces come back to be split again where engines
  // still refuse.
  for (const Style& style :
       {kNoComposedAttention, kNoPrologues, kEpiloguesOnly, halved(kEpiloguesOnly, group),
        kAnchorsAlone, halved(kAnchorsAlone, group), kSingleOperations}) {
    std::vector<FusionGroup> pieces =
        emit_groups(make_grouping(group.graph, group.nodes, is_stored, style));
    if (pieces.size() > 1) return pieces;
  }
  return {group};
}

}  // namespace warploom::fusion
