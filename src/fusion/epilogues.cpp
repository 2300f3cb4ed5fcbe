// Before every other join: what follows a contraction, attention or normalization belongs to it
// first, since that saves writing the anchor's result and reading it back.
#include "fusion/joining.h"
#include "fusion/passes.h"
#include "fusion/reasons.h"
#include "ops/norm_axes.h"

namespace warploom::fusion {

namespace {

bool takes_epilogue(const Grouping& grouping, const GroupDraft& group) {
  return group.kind == AnchorKind::kContraction || group.kind == AnchorKind::kAttention ||
         group.kind == AnchorKind::kComposedAttention ||
         (group.kind == AnchorKind::kNorm &&
          ops::is_forward_normalization(grouping.node(group.anchor).operation));
}

}  // namespace

void grow_epilogues(Grouping& grouping) {
  const StepId count = grouping.step_count();
  for (StepId id = 0; id < count; ++id) {
    if (grouping.step(id).group == kNoId || !grouping.is_pointwise(id)) continue;
    // Of several anchors the last one: it runs when the others' results are there.
    StepId best = kNoId;
    GroupId host = kNoId;
    for (StepId producer : grouping.step(id).producers) {
      if (producer == kNoId || !takes_epilogue(grouping, grouping.group_of(producer))) continue;
      const ir::NodeId from = grouping.step(producer).node, to = grouping.step(id).node;
      const GroupId candidate = grouping.step(producer).group;
      if (!grouping.style().has_epilogues) {
        grouping.stop(from, to, "this partition leaves anchors alone");
        continue;
      }
      if (auto reason = obstacle_to_epilogue(grouping, candidate, grouping.step(id).group)) {
        grouping.stop(from, to, *reason);
        continue;
      }
      const StepId anchor = grouping.group(candidate).anchor;
      if (anchor <= best) continue;
      best = anchor;
      host = candidate;
    }
    if (host != kNoId) grouping.join(host, grouping.step(id).group);
  }
}

}  // namespace warploom::fusion
