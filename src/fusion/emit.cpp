#include "fusion/emit.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "fusion/expression_builder.h"
#include "fusion/reasons.h"

namespace warploom::fusion {

namespace {

void append_once(std::vector<ir::TensorId>& list, ir::TensorId tensor) {
  if (std::find(list.begin(), list.end(), tensor) == list.end()) list.push_back(tensor);
}

/// The steps of a group in the order in which they can be evaluated.
std::vector<StepId> sorted_steps(const Grouping& grouping, const GroupDraft& group) {
  std::vector<StepId> steps = group.steps;
  std::sort(steps.begin(), steps.end(),
            [&](StepId a, StepId b) { return grouping.step(a).node < grouping.step(b).node; });
  return steps;
}

/// The chain behind one port of the anchor: those prologue steps that lead to it.
Expression emit_prologue(const Grouping& grouping, const std::vector<StepId>& steps, StepId last,
                         std::vector<ir::TensorId>& inputs) {
  std::set<StepId> chain{last};
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    if (chain.contains(*step))
      for (StepId producer : grouping.step(*step).producers)
        if (producer != kNoId && grouping.step(producer).group == grouping.step(last).group)
          chain.insert(producer);
  ExpressionBuilder builder(grouping, grouping.result(last));
  for (StepId step : steps)
    if (chain.contains(step)) builder.add(step);
  for (ir::TensorId load : builder.loads()) append_once(inputs, load);
  return builder.take();
}

void emit_anchor(const Grouping& grouping, const std::vector<StepId>& steps, StepId anchor,
                 FusionGroup& result) {
  const Step& step = grouping.step(anchor);
  const ir::Node& node = grouping.node(anchor);
  for (size_t port = 0; port < node.inputs.size(); ++port) {
    const StepId producer = step.producers[port];
    if (producer != kNoId && grouping.step(producer).group == step.group)
      result.prologues.push_back({port, emit_prologue(grouping, steps, producer, result.inputs)});
    else if (node.inputs[port] != ir::kNoTensor)
      append_once(result.inputs, node.inputs[port]);
  }
}

void emit_composition(const Grouping& grouping, const GroupDraft& group,
                      const std::vector<StepId>& steps, FusionGroup& result) {
  const Composition& parts = *group.composition;
  const ir::Node& matmul = grouping.node(parts.score_matmul);
  for (ir::TensorId input : {matmul.inputs[0], matmul.inputs[1],
                             grouping.node(group.anchor).inputs[graph::Matmul_attributes::B]})
    append_once(result.inputs, input);
  ComposedAttention& composed = result.composed_attention.emplace();
  composed.score_matmul = grouping.step(parts.score_matmul).node;
  ExpressionBuilder builder(grouping, grouping.result(parts.score_matmul));
  builder.add_anchor(parts.score_matmul);
  // In topological order, up to what the softmax reads.
  for (StepId step : steps) {
    if (step == parts.scores && step != parts.score_matmul) builder.add(step);
    if (step == parts.scores) break;
    if (step != parts.score_matmul && grouping.is_pointwise(step)) builder.add(step);
  }
  for (ir::TensorId load : builder.loads()) append_once(result.inputs, load);
  composed.scores = builder.take();
  composed.has_softmax_operation = parts.softmax != kNoId;
  if (parts.softmax == kNoId) return;
  using Softmax = graph::Softmax_attributes;
  const ir::Node& softmax = grouping.node(parts.softmax);
  if (const ir::TensorId sink = softmax.inputs[Softmax::SINK]; sink != ir::kNoTensor) {
    append_once(result.inputs, sink);
    composed.sink = sink;
  }
  const auto kept = [&](size_t port) {
    const ir::TensorId tensor = softmax.outputs[port];
    return tensor != ir::kNoTensor && grouping.needs_memory(parts.softmax, tensor) ? tensor
                                                                                   : ir::kNoTensor;
  };
  composed.stats = kept(Softmax::Stats);
  composed.maximum = kept(Softmax::Max);
  composed.sum_exp = kept(Softmax::Sum_exp);
}

void emit_epilogue(const Grouping& grouping, const std::vector<StepId>& steps, StepId anchor,
                   ir::TensorId domain, FusionGroup& result) {
  ExpressionBuilder builder(grouping, domain);
  if (anchor != kNoId) builder.add_anchor(anchor);
  for (StepId id : steps)
    if (grouping.step(id).role == Role::kEpilogue) builder.add(id);
  for (StepId id : steps) {
    const Role role = grouping.step(id).role;
    const ir::TensorId tensor = grouping.result(id);
    if (role == Role::kPrologue || role == Role::kScore || !grouping.needs_memory(id, tensor))
      continue;
    role == Role::kReduction ? builder.reduce(id) : builder.store(id);
  }
  for (ir::TensorId load : builder.loads()) append_once(result.inputs, load);
  result.epilogue = builder.take();
}

FusionGroup emit_group(const Grouping& grouping, const GroupDraft& group) {
  const std::vector<StepId> steps = sorted_steps(grouping, group);
  FusionGroup result;
  result.graph = grouping.shared_graph();
  result.anchor_kind = group.kind;
  for (StepId id : steps) result.nodes.push_back(grouping.step(id).node);
  if (group.anchor != kNoId) {
    result.anchor = grouping.step(group.anchor).node;
    if (group.composition)
      emit_composition(grouping, group, steps, result);
    else
      emit_anchor(grouping, steps, group.anchor, result);
  }
  if (group.kind != AnchorKind::kMovement)
    emit_epilogue(grouping, steps, group.anchor, group.domain, result);
  for (StepId id : steps)
    for (ir::TensorId tensor : grouping.node(id).outputs)
      if (tensor != ir::kNoTensor && grouping.step(id).role != Role::kPrologue &&
          grouping.needs_memory(id, tensor))
        result.outputs.push_back(tensor);
  return result;
}

/// Groups, views among them, each after those it reads; otherwise in node order.
std::vector<GroupId> order_groups(const Grouping& grouping) {
  const auto count = static_cast<size_t>(grouping.group_count());
  std::vector<std::set<GroupId>> readers(count);
  std::vector<int> missing(count);
  for (StepId id = 0; id < grouping.step_count(); ++id) {
    const GroupId to = grouping.step(id).group;
    if (to == kNoId) continue;
    for (StepId producer : grouping.step(id).producers) {
      if (producer == kNoId) continue;
      const GroupId from = grouping.step(producer).group;
      if (from != to && readers[static_cast<size_t>(from)].insert(to).second)
        ++missing[static_cast<size_t>(to)];
    }
  }
  const auto first_node = [&](GroupId id) {
    ir::NodeId first = grouping.step(grouping.group(id).steps.front()).node;
    for (StepId step : grouping.group(id).steps) first = std::min(first, grouping.step(step).node);
    return first;
  };
  using Entry = std::pair<ir::NodeId, GroupId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (GroupId id = 0; id < grouping.group_count(); ++id)
    if (!grouping.group(id).steps.empty() && missing[static_cast<size_t>(id)] == 0)
      ready.emplace(first_node(id), id);
  std::vector<GroupId> order;
  while (!ready.empty()) {
    const GroupId next = ready.top().second;
    ready.pop();
    order.push_back(next);
    for (GroupId reader : readers[static_cast<size_t>(next)])
      if (--missing[static_cast<size_t>(reader)] == 0) ready.emplace(first_node(reader), reader);
  }
  return order;
}

/// For fusions that no pass tried.
std::string explain_untried(const Grouping& grouping, StepId producer, StepId consumer) {
  const ir::FrozenGraph& graph = grouping.graph();
  const ir::NodeId from = grouping.step(producer).node, to = grouping.step(consumer).node;
  for (StepId id : {producer, consumer})
    if (grouping.group_of(id).is_view)
      return label(graph, grouping.step(id).node) +
             " is a view: its source is kept in memory and read there";
  for (StepId id : {producer, consumer})
    if (grouping.group_of(id).kind == AnchorKind::kMovement)
      return label(graph, grouping.step(id).node) + " moves elements, which runs by itself";
  if (!grouping.is_pointwise(producer) && !grouping.is_pointwise(consumer))
    return label(graph, from) + " and " + label(graph, to) + " are both anchors; a group has one";
  const auto place = [&](StepId id) {
    const StepId anchor = grouping.group_of(id).anchor;
    if (anchor == id) return label(graph, grouping.step(id).node) + " begins a kernel of its own";
    const StepId named = anchor == kNoId ? grouping.group_of(id).steps.front() : anchor;
    return label(graph, grouping.step(id).node) + " runs in the kernel of " +
           label(graph, grouping.step(named).node);
  };
  return place(consumer) + ", " + place(producer);
}

}  // namespace

std::vector<FusionGroup> emit_groups(const Grouping& grouping) {
  std::vector<FusionGroup> groups;
  for (GroupId id : order_groups(grouping))
    if (!grouping.group(id).is_view) groups.push_back(emit_group(grouping, grouping.group(id)));
  return groups;
}

std::vector<Alias> emit_aliases(const Grouping& grouping) {
  std::vector<Alias> aliases;
  for (StepId id = 0; id < grouping.step_count(); ++id) {
    if (grouping.step(id).group == kNoId || !grouping.group_of(id).is_view) continue;
    StepId root = id;
    while (grouping.step(root).producers[0] != kNoId &&
           grouping.group_of(grouping.step(root).producers[0]).is_view)
      root = grouping.step(root).producers[0];
    aliases.push_back({grouping.result(id), grouping.node(root).inputs[0]});
  }
  return aliases;
}

std::vector<FusionStop> emit_stops(const Grouping& grouping) {
  std::vector<FusionStop> stops;
  for (StepId id = 0; id < grouping.step_count(); ++id) {
    const Step& step = grouping.step(id);
    if (step.group == kNoId) {
      // Without a reason it is computed by others.
      if (const std::string* reason = grouping.find_stop(step.node, ir::kNoNode))
        stops.push_back({step.node, ir::kNoNode, *reason});
      continue;
    }
    std::set<ir::NodeId> readers;  // a node and its copies are one
    for (StepId consumer : step.consumers) {
      const Step& reader = grouping.step(consumer);
      if (reader.group == step.group || !readers.insert(reader.node).second) continue;
      const std::string* reason = grouping.find_stop(step.node, reader.node);
      stops.push_back(
          {step.node, reader.node, reason ? *reason : explain_untried(grouping, id, consumer)});
    }
  }
  return stops;
}

}  // namespace warploom::fusion
