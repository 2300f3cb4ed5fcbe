#include "fusion/grouping.h"

#include <algorithm>

#include "ops/families.h"
#include "ops/norm_axes.h"

namespace warploom::fusion {

namespace {

struct KindOf {
  AnchorKind operator()(const graph::ConvolutionFields&) { return AnchorKind::kContraction; }
  AnchorKind operator()(const graph::Matmul_attributes&) { return AnchorKind::kContraction; }
  AnchorKind operator()(const graph::Pointwise_attributes&) { return AnchorKind::kNone; }
  AnchorKind operator()(const graph::Reduction_attributes&) { return AnchorKind::kReduction; }
  AnchorKind operator()(const graph::SDPA_attributes&) { return AnchorKind::kAttention; }
  AnchorKind operator()(const graph::SDPA_backward_attributes&) { return AnchorKind::kOther; }
  AnchorKind operator()(const graph::SDPA_fp8_forward&) { return AnchorKind::kOther; }
  AnchorKind operator()(const graph::SDPA_mxfp8_forward&) { return AnchorKind::kOther; }
  AnchorKind operator()(const graph::Reshape_attributes&) { return AnchorKind::kMovement; }
  AnchorKind operator()(const graph::Transpose_attributes&) { return AnchorKind::kMovement; }
  AnchorKind operator()(const graph::Slice_attributes&) { return AnchorKind::kMovement; }
  AnchorKind operator()(const graph::Concatenate_attributes&) { return AnchorKind::kMovement; }
  AnchorKind operator()(const graph::ResampleFields&) { return AnchorKind::kOther; }
  AnchorKind operator()(const graph::Rng_attributes&) { return AnchorKind::kOther; }
  AnchorKind operator()(const graph::Block_scale_quantize_attributes&) {
    return AnchorKind::kOther;
  }
  AnchorKind operator()(const graph::Block_scale_dequantize_attributes&) {
    return AnchorKind::kOther;
  }
  template <ops::Normalization Attributes>
  AnchorKind operator()(const Attributes&) {
    return AnchorKind::kNorm;
  }
  /// Refused by validate(): never asked.
  template <ops::DeclaredOnly Attributes>
  AnchorKind operator()(const Attributes&) {
    return AnchorKind::kMovement;
  }
};

AnchorKind kind_of(const graph::Operation& operation) {
  return std::visit(KindOf{}, operation);
}

void insert_once(std::vector<StepId>& list, StepId id) {
  if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

}  // namespace

Grouping::Grouping(std::shared_ptr<const ir::FrozenGraph> graph, std::span<const ir::NodeId> nodes,
                   std::vector<bool> is_stored, const Style& style)
    : graph_(std::move(graph)), style_(style), is_stored_(std::move(is_stored)) {
  std::vector<StepId> writer(graph_->tensors.size(), kNoId);
  for (ir::NodeId node_id : nodes) {
    const ir::Node& node = graph_->node(node_id);
    const auto id = static_cast<StepId>(steps_.size());
    Step step{.node = node_id, .group = id};
    for (ir::TensorId input : node.inputs) {
      const StepId producer = input == ir::kNoTensor ? kNoId : writer[static_cast<size_t>(input)];
      step.producers.push_back(producer);
      if (producer != kNoId) insert_once(steps_[static_cast<size_t>(producer)].consumers, id);
    }
    for (ir::TensorId output : node.outputs)
      if (output != ir::kNoTensor) writer[static_cast<size_t>(output)] = id;
    GroupDraft group{.kind = kind_of(node.operation), .domain = node.outputs[0], .steps = {id}};
    if (group.kind != AnchorKind::kNone) {
      step.role = Role::kAnchor;
      group.anchor = id;
    }
    steps_.push_back(std::move(step));
    groups_.push_back(std::move(group));
  }
}

bool Grouping::reads(StepId consumer, StepId producer, ir::TensorId tensor) const {
  const std::vector<StepId>& producers = step(consumer).producers;
  for (size_t port = 0; port < producers.size(); ++port)
    if (producers[port] == producer && node(consumer).inputs[port] == tensor) return true;
  return false;
}

bool Grouping::needs_memory(StepId producer, ir::TensorId tensor, GroupId together) const {
  const Step& from = step(producer);
  if (!from.is_copy && is_stored(tensor)) return true;
  for (StepId consumer : from.consumers) {
    const GroupId group = step(consumer).group;
    if (group != from.group && group != together && reads(consumer, producer, tensor)) return true;
  }
  return false;
}

void Grouping::drop(StepId id) {
  Step& dropped = steps_[static_cast<size_t>(id)];
  for (StepId producer : dropped.producers)
    if (producer != kNoId) std::erase(steps_[static_cast<size_t>(producer)].consumers, id);
  std::erase(group(dropped.group).steps, id);
  dropped.group = kNoId;
}

void Grouping::join(GroupId host, GroupId guest) {
  std::vector<StepId> moved = std::move(group(guest).steps);
  group(guest).steps.clear();
  for (StepId id : moved) {
    steps_[static_cast<size_t>(id)].group = host;
    group(host).steps.push_back(id);
  }
}

StepId Grouping::add_copy(StepId original, GroupId host) {
  const auto id = static_cast<StepId>(steps_.size());
  Step copy = step(original);
  copy.consumers.clear();
  copy.group = host;
  copy.role = Role::kEpilogue;
  copy.is_copy = true;
  for (StepId producer : copy.producers)
    if (producer != kNoId) insert_once(steps_[static_cast<size_t>(producer)].consumers, id);
  steps_.push_back(std::move(copy));
  group(host).steps.push_back(id);
  return id;
}

void Grouping::redirect(StepId consumer, StepId from, StepId to) {
  for (StepId& producer : steps_[static_cast<size_t>(consumer)].producers)
    if (producer == from) producer = to;
  std::erase(steps_[static_cast<size_t>(from)].consumers, consumer);
  insert_once(steps_[static_cast<size_t>(to)].consumers, consumer);
}

std::optional<Grouping::Detour> Grouping::find_detour(GroupId from, GroupId to) const {
  std::vector<bool> visited(groups_.size());
  visited[static_cast<size_t>(to)] = true;
  for (StepId id : group(to).steps) {
    const std::vector<StepId>& producers = step(id).producers;
    for (size_t port = 0; port < producers.size(); ++port) {
      if (producers[port] == kNoId) continue;
      const GroupId through = step(producers[port]).group;
      if (through != from && through != to && reaches(from, through, visited))
        return Detour{id, port};
    }
  }
  return std::nullopt;
}

bool Grouping::reaches(GroupId from, GroupId to, std::vector<bool>& visited) const {
  std::vector<GroupId> waiting;
  const auto visit = [&](GroupId id) {
    if (visited[static_cast<size_t>(id)]) return;
    visited[static_cast<size_t>(id)] = true;
    waiting.push_back(id);
  };
  visit(to);
  while (!waiting.empty()) {
    const GroupId next = waiting.back();
    waiting.pop_back();
    if (next == from) return true;
    for (StepId id : group(next).steps)
      for (StepId producer : step(id).producers)
        if (producer != kNoId) visit(step(producer).group);
  }
  return false;
}

void Grouping::stop(ir::NodeId producer, ir::NodeId consumer, std::string reason) {
  stops_.insert_or_assign({producer, consumer}, std::move(reason));
}

const std::string* Grouping::find_stop(ir::NodeId producer, ir::NodeId consumer) const {
  const auto found = stops_.find({producer, consumer});
  return found == stops_.end() ? nullptr : &found->second;
}

}  // namespace warploom::fusion
