// After the anchors have taken what is theirs: the pointwise operations that are left join each
// other, so that their intermediates need no memory.
#include "fusion/joining.h"
#include "fusion/passes.h"

namespace warploom::fusion {

namespace {

bool is_region(const GroupDraft& group) {
  return group.kind == AnchorKind::kNone && !group.is_view;
}

}  // namespace

void join_regions(Grouping& grouping) {
  const StepId count = grouping.step_count();
  for (StepId id = 0; id < count; ++id) {
    if (grouping.step(id).group == kNoId || !is_region(grouping.group_of(id))) continue;
    for (size_t port = 0; port < grouping.step(id).producers.size(); ++port) {
      const StepId producer = grouping.step(id).producers[port];
      if (producer == kNoId || !is_region(grouping.group_of(producer))) continue;
      const GroupId host = grouping.step(producer).group, guest = grouping.step(id).group;
      if (host == guest) continue;
      const ir::NodeId from = grouping.step(producer).node, to = grouping.step(id).node;
      if (!grouping.style().has_regions) {
        grouping.stop(from, to, "this partition runs every operation by itself");
        continue;
      }
      // Values on a smaller domain are for absorb_side_values, once all of their readers are known.
      if (auto reason = obstacle_to_epilogue(grouping, host, guest))
        grouping.stop(from, to, *reason);
      else
        grouping.join(host, guest);
    }
  }
}

}  // namespace warploom::fusion
