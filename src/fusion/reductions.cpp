// After regions are joined, since only then is it known whether a reduction is all that a region is
// for. If it is, the region becomes the reduction's prologue, and what follows the reduction its
// epilogue; otherwise the reduction is one more output of the group that computes what it reduces.
#include "fusion/joining.h"
#include "fusion/passes.h"
#include "fusion/reasons.h"

namespace warploom::fusion {

namespace {

bool is_only_for(const Grouping& grouping, GroupId region, StepId reduction) {
  for (StepId id : grouping.group(region).steps) {
    if (grouping.step(id).role == Role::kReduction) return false;
    if (!grouping.step(id).is_copy && grouping.is_stored(grouping.result(id))) return false;
    for (StepId consumer : grouping.step(id).consumers)
      if (consumer != reduction && grouping.step(consumer).group != region) return false;
  }
  return true;
}

void absorb(Grouping& grouping, StepId reduction) {
  const StepId producer = grouping.step(reduction).producers[0];
  if (producer == kNoId) return;
  const GroupId host = grouping.step(producer).group, guest = grouping.step(reduction).group;
  const GroupDraft& group = grouping.group(host);
  const ir::NodeId from = grouping.step(producer).node, to = grouping.step(reduction).node;
  if (group.is_view || group.kind == AnchorKind::kMovement || group.kind == AnchorKind::kReduction)
    return;
  const Style& style = grouping.style();
  std::optional<std::string> reason;
  if (group.kind == AnchorKind::kNone && style.has_prologues &&
      is_only_for(grouping, host, reduction)) {
    reason = obstacle_to_prologue(grouping, guest, host);
    if (!reason) {
      for (StepId id : grouping.group(host).steps) grouping.set_role(id, Role::kPrologue);
      grouping.join(guest, host);
      return;
    }
  } else if (!style.has_reductions) {
    reason = "this partition fuses no reductions into groups";
  } else {
    reason = obstacle_to_reduction(grouping, host, guest);
    if (!reason) {
      grouping.set_role(reduction, Role::kReduction);
      grouping.join(host, guest);
      return;
    }
  }
  grouping.stop(from, to, *reason);
}

void grow_epilogue(Grouping& grouping, StepId reduction) {
  const GroupId host = grouping.step(reduction).group;
  // Joining adds readers, so the list is walked anew until nothing joins.
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    const std::vector<StepId> steps = grouping.group(host).steps;
    for (StepId id : steps) {
      if (grouping.step(id).role == Role::kPrologue) continue;
      const std::vector<StepId> consumers = grouping.step(id).consumers;
      for (StepId consumer : consumers) {
        const GroupId guest = grouping.step(consumer).group;
        const GroupDraft& group = grouping.group(guest);
        if (guest == host || group.kind != AnchorKind::kNone || group.is_view) continue;
        const ir::NodeId from = grouping.step(id).node, to = grouping.step(consumer).node;
        if (!grouping.style().has_epilogues) {
          grouping.stop(from, to, "this partition leaves anchors alone");
        } else if (auto reason = obstacle_to_epilogue(grouping, host, guest)) {
          grouping.stop(from, to, *reason);
        } else {
          grouping.join(host, guest);
          has_grown = true;
        }
      }
    }
  }
}

}  // namespace

void absorb_reductions(Grouping& grouping) {
  const StepId count = grouping.step_count();
  for (StepId id = 0; id < count; ++id) {
    if (grouping.step(id).group == kNoId) continue;
    if (grouping.group_of(id).kind == AnchorKind::kReduction &&
        grouping.step(id).role == Role::kAnchor)
      absorb(grouping, id);
  }
  for (StepId id = 0; id < count; ++id) {
    if (grouping.step(id).group == kNoId) continue;
    if (grouping.group_of(id).kind == AnchorKind::kReduction &&
        grouping.step(id).role == Role::kAnchor)
      grow_epilogue(grouping, id);
  }
}

}  // namespace warploom::fusion
