// After regions, which decide what would be stored; before reductions, which look at who reads a
// region: a value that costs a few operations on tensors that are in memory anyway is computed
// again by its readers instead of being written and read back (x - mean of a normalization, a
// scaled bias that two matmuls add).
#include <algorithm>

#include "fusion/joining.h"
#include "fusion/passes.h"

namespace warploom::fusion {

namespace {

constexpr size_t kMostSteps = 4;  // of what is computed again for one value
/// Where the value is this much smaller than the reader's domain, what it reads does not matter.
constexpr int64_t kSmall = 8;

/// Modes that cost about as much as reading their result would.
bool is_cheap(const Grouping& grouping, StepId id) {
  switch (std::get<graph::Pointwise_attributes>(grouping.node(id).operation).get_mode()) {
    case PointwiseMode_t::ADD:
    case PointwiseMode_t::SUB:
    case PointwiseMode_t::MUL:
    case PointwiseMode_t::ADD_SQUARE:
    case PointwiseMode_t::NEG:
    case PointwiseMode_t::ABS:
    case PointwiseMode_t::MAX:
    case PointwiseMode_t::MIN:
    case PointwiseMode_t::RELU_FWD:
    case PointwiseMode_t::IDENTITY:
    case PointwiseMode_t::BINARY_SELECT:
      return true;
    default:
      return false;
  }
}

/// What must be computed again to have a value, in topological order, and what that reads.
struct Closure {
  std::vector<StepId> steps;
  std::vector<ir::TensorId> loads;
};

/// Nothing when it is not cheap.
std::optional<Closure> find_closure(const Grouping& grouping, StepId value) {
  Closure closure{{value}, {}};
  for (size_t next = 0; next < closure.steps.size(); ++next) {
    const StepId id = closure.steps[next];
    if (closure.steps.size() > kMostSteps || !is_cheap(grouping, id)) return std::nullopt;
    const std::vector<StepId>& producers = grouping.step(id).producers;
    for (size_t port = 0; port < producers.size(); ++port) {
      const ir::TensorId tensor = grouping.node(id).inputs[port];
      if (tensor == ir::kNoTensor) continue;
      const StepId producer = producers[port];
      const bool is_inside = producer != kNoId &&
                             grouping.step(producer).group == grouping.step(value).group &&
                             !grouping.needs_memory(producer, tensor);
      auto append_once = [](auto& list, auto item) {
        if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
      };
      is_inside ? append_once(closure.steps, producer) : append_once(closure.loads, tensor);
    }
  }
  std::sort(closure.steps.begin(), closure.steps.end(),
            [&](StepId a, StepId b) { return grouping.step(a).node < grouping.step(b).node; });
  return closure;
}

class Recomputation {
 public:
  explicit Recomputation(Grouping& grouping) : grouping_(grouping) {}

  /// A step whose value only groups read that can compute it themselves.
  void visit(StepId id) {
    const ir::TensorId tensor = grouping_.result(id);
    if (grouping_.is_stored(tensor) || !grouping_.needs_memory(id, tensor)) return;
    const auto closure = find_closure(grouping_, id);
    if (!closure) return;
    const std::vector<StepId> readers = outside_readers(id);
    for (StepId reader : readers)
      if (!can_compute(*closure, tensor, reader)) return;
    for (StepId reader : readers) {
      const GroupId host = grouping_.step(reader).group;
      for (StepId step : closure->steps) copy(step, host);
      grouping_.redirect(reader, id, find(id, host));
    }
  }

 private:
  std::vector<StepId> outside_readers(StepId id) const {
    std::vector<StepId> readers;
    for (StepId consumer : grouping_.step(id).consumers)
      if (grouping_.step(consumer).group != grouping_.step(id).group) readers.push_back(consumer);
    return readers;
  }

  int64_t volume(ir::TensorId id) const { return grouping_.graph().tensor(id).shape.volume(); }

  bool can_compute(const Closure& closure, ir::TensorId value, StepId reader) const {
    const GroupId group = grouping_.step(reader).group;
    if (!grouping_.is_pointwise(reader) || grouping_.step(reader).role != Role::kEpilogue)
      return false;
    const auto is_large = [&](ir::TensorId load) { return volume(load) >= volume(value); };
    const auto large = std::count_if(closure.loads.begin(), closure.loads.end(), is_large);
    if (large > 1 && volume(value) * kSmall > volume(grouping_.group(group).domain)) return false;
    for (StepId step : closure.steps)
      if (const StepId same = find(step, group);
          same != kNoId && grouping_.step(same).role != Role::kEpilogue)
        return false;
    const GroupSize size = measure(grouping_, group);
    const Style& style = grouping_.style();
    return size.values + closure.steps.size() + closure.loads.size() <= style.most_values &&
           size.pointers + closure.loads.size() <= style.most_pointers;
  }

  /// The step of a group that evaluates the same node.
  StepId find(StepId like, GroupId group) const {
    for (StepId id : grouping_.group(group).steps)
      if (grouping_.step(id).node == grouping_.step(like).node) return id;
    return kNoId;
  }

  void copy(StepId original, GroupId host) {
    if (find(original, host) != kNoId) return;
    const StepId id = grouping_.add_copy(original, host);
    const std::vector<StepId> producers = grouping_.step(id).producers;
    for (StepId producer : producers)
      if (const StepId inner = producer == kNoId ? kNoId : find(producer, host); inner != kNoId)
        grouping_.redirect(id, producer, inner);
  }

  Grouping& grouping_;
};

/// Originals that everybody computes again, and copies only they read.
void drop_unused(Grouping& grouping, std::vector<StepId> candidates) {
  while (!candidates.empty()) {
    const StepId id = candidates.back();
    candidates.pop_back();
    const Step& step = grouping.step(id);
    const bool is_stored = !step.is_copy && grouping.is_stored(grouping.result(id));
    if (step.group == kNoId || !step.consumers.empty() || is_stored) continue;
    for (StepId producer : step.producers)
      if (producer != kNoId && grouping.is_pointwise(producer)) candidates.push_back(producer);
    grouping.drop(id);
  }
}

}  // namespace

void recompute_cheap_values(Grouping& grouping) {
  if (!grouping.style().has_recomputation) return;
  Recomputation recomputation(grouping);
  const StepId count = grouping.step_count();
  std::vector<StepId> visited;
  for (StepId id = 0; id < count; ++id) {
    if (grouping.step(id).group == kNoId || !grouping.is_pointwise(id) ||
        grouping.group_of(id).kind != AnchorKind::kNone)
      continue;
    recomputation.visit(id);
    visited.push_back(id);
  }
  drop_unused(grouping, std::move(visited));
}

}  // namespace warploom::fusion
