// Last of the joins, when every group that reads a value is known: a scaled bias, a reciprocal of a
// mean, anything that repeats over the domain of its only reader's group is computed there.
#include "fusion/joining.h"
#include "fusion/passes.h"
#include "fusion/reasons.h"

namespace warploom::fusion {

namespace {

/// The one group that reads what this one computes; kNoId when there is none or more than one.
GroupId find_only_reader(const Grouping& grouping, GroupId region) {
  GroupId reader = kNoId;
  for (StepId id : grouping.group(region).steps)
    for (StepId consumer : grouping.step(id).consumers) {
      const GroupId group = grouping.step(consumer).group;
      if (group == region || group == reader) continue;
      if (reader != kNoId) return kNoId;
      reader = group;
    }
  return reader;
}

/// Read on the host's domain, and not what earlier passes have tried: a chain before its anchor, or
/// a region on the same domain.
bool is_side_value(const Grouping& grouping, GroupId region, GroupId host) {
  const GroupDraft& group = grouping.group(host);
  if (group.kind == AnchorKind::kNone &&
      grouping.dims(group.domain) == grouping.dims(grouping.group(region).domain))
    return false;
  for (StepId id : grouping.group(region).steps)
    for (StepId consumer : grouping.step(id).consumers)
      if (grouping.step(consumer).group == host && grouping.step(consumer).role != Role::kEpilogue)
        return false;
  return true;
}

void note(Grouping& grouping, GroupId region, GroupId reader, const std::string& reason) {
  for (StepId id : grouping.group(region).steps)
    for (StepId consumer : grouping.step(id).consumers)
      if (grouping.step(consumer).group == reader)
        grouping.stop(grouping.step(id).node, grouping.step(consumer).node, reason);
}

}  // namespace

void absorb_side_values(Grouping& grouping) {
  if (!grouping.style().has_regions) return;
  // Backwards, so that a reader has joined its own reader before its sources are looked at.
  for (GroupId id = grouping.group_count() - 1; id >= 0; --id) {
    const GroupDraft& region = grouping.group(id);
    if (region.steps.empty() || region.kind != AnchorKind::kNone || region.is_view) continue;
    const GroupId host = find_only_reader(grouping, id);
    if (host == kNoId) continue;
    const GroupDraft& group = grouping.group(host);
    if (group.is_view || group.kind == AnchorKind::kMovement) continue;
    if (group.kind != AnchorKind::kNone && !grouping.style().has_epilogues) continue;
    if (!is_side_value(grouping, id, host)) continue;
    if (auto reason = obstacle_to_epilogue(grouping, host, id))
      note(grouping, id, host, *reason);
    else
      grouping.join(host, id);
  }
}

}  // namespace warploom::fusion
