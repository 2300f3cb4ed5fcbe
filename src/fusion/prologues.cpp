// After the epilogues, which have the first claim on what lies between two anchors; before regions
// are joined, because a chain may be part of a larger region that is stored.
#include <algorithm>

#include "fusion/joining.h"
#include "fusion/passes.h"
#include "fusion/reasons.h"

namespace warploom::fusion {

namespace {

/// Ports whose elements an anchor reads one by one, so that a chain can be applied on the way.
bool takes_prologue(const graph::Operation& operation, size_t port) {
  if (std::holds_alternative<graph::SDPA_attributes>(operation))
    return port <= graph::SDPA_attributes::V || port == graph::SDPA_attributes::Bias;
  return port <= 1;
}

/// All ports of the anchor that read the step take prologues.
bool is_read_on_the_way(const Grouping& grouping, StepId anchor, StepId id) {
  const std::vector<StepId>& producers = grouping.step(anchor).producers;
  for (size_t port = 0; port < producers.size(); ++port)
    if (producers[port] == id && !takes_prologue(grouping.node(anchor).operation, port))
      return false;
  return true;
}

bool is_lone_pointwise(const Grouping& grouping, StepId id) {
  return id != kNoId && grouping.is_pointwise(id) && grouping.group_of(id).steps.size() == 1 &&
         grouping.group_of(id).kind == AnchorKind::kNone;
}

void grow(Grouping& grouping, StepId anchor) {
  const GroupId host = grouping.step(anchor).group;
  // Latest first, so that all readers of a step have been decided on before the step is.
  std::vector<StepId> waiting = grouping.step(anchor).producers;
  while (!waiting.empty()) {
    const auto latest = std::max_element(waiting.begin(), waiting.end());
    const StepId id = *latest;
    std::erase(waiting, id);
    if (!is_lone_pointwise(grouping, id) || !is_read_on_the_way(grouping, anchor, id)) continue;
    const ir::NodeId from = grouping.step(id).node, to = grouping.step(anchor).node;
    const ir::NodeId reader = grouping.step(grouping.step(id).consumers.front()).node;
    if (!grouping.style().has_prologues) {
      grouping.stop(from, to, "this partition fuses nothing before an anchor");
      continue;
    }
    if (auto reason = obstacle_to_prologue(grouping, host, grouping.step(id).group)) {
      grouping.stop(from, grouping.reads(anchor, id, grouping.result(id)) ? to : reader, *reason);
      continue;
    }
    grouping.join(host, grouping.step(id).group);
    grouping.set_role(id, Role::kPrologue);
    for (StepId producer : grouping.step(id).producers) waiting.push_back(producer);
  }
}

}  // namespace

void grow_prologues(Grouping& grouping) {
  for (StepId id = 0; id < grouping.step_count(); ++id) {
    if (grouping.step(id).group == kNoId) continue;
    const AnchorKind kind = grouping.group_of(id).kind;
    if (grouping.step(id).role == Role::kAnchor &&
        (kind == AnchorKind::kContraction || kind == AnchorKind::kAttention))
      grow(grouping, id);
  }
}

}  // namespace warploom::fusion
