#include "fusion/joining.h"

#include <algorithm>

#include <fmt/format.h>

#include "fusion/reasons.h"

namespace warploom::fusion {

namespace {

using Obstacle = std::optional<std::string>;

bool is_on_domain(Role role) {
  return role == Role::kEpilogue || role == Role::kReduction;
}

/// A coordinate along a dim that is 1 is 0, not the domain's coordinate: an index does not
/// broadcast as other values do.
bool is_index(const Grouping& grouping, StepId id) {
  const auto* pointwise = std::get_if<graph::Pointwise_attributes>(&grouping.node(id).operation);
  return pointwise && pointwise->get_mode() == PointwiseMode_t::GEN_INDEX;
}

/// Whether a value is read, through pointwise steps of `guest` and of the prologues of `host`,
/// where it repeats.
bool is_repeated(const Grouping& grouping, StepId id, GroupId guest, GroupId host) {
  std::vector<StepId> values{id};
  for (size_t next = 0; next < values.size(); ++next) {
    const StepId value = values[next];
    if (grouping.dims(grouping.result(value)) != grouping.dims(grouping.result(id))) return true;
    for (StepId consumer : grouping.step(value).consumers) {
      const Step& reader = grouping.step(consumer);
      const bool is_before =
          reader.group == guest || (reader.group == host && reader.role == Role::kPrologue);
      if (is_before && std::find(values.begin(), values.end(), consumer) == values.end())
        values.push_back(consumer);
    }
  }
  return false;
}

/// Every value of `guest` lies on the domain, or repeats over it and is stored nowhere.
Obstacle check_domain(const Grouping& grouping, GroupId host, GroupId guest) {
  const ir::FrozenGraph& graph = grouping.graph();
  const ir::TensorId domain = grouping.group(host).domain;
  const std::vector<int64_t>& dims = grouping.dims(domain);
  // First those that read the host: a reason is best said of what would be fused.
  std::vector<StepId> steps = grouping.group(guest).steps;
  std::stable_partition(steps.begin(), steps.end(), [&](StepId id) {
    const std::vector<StepId>& producers = grouping.step(id).producers;
    return std::any_of(producers.begin(), producers.end(), [&](StepId producer) {
      return producer != kNoId && grouping.step(producer).group == host;
    });
  });
  for (StepId id : steps) {
    const bool is_reduction = grouping.step(id).role == Role::kReduction;
    const ir::TensorId value = is_reduction ? grouping.node(id).inputs[0] : grouping.result(id);
    if (grouping.dims(value) == dims) continue;
    const ir::NodeId node = grouping.step(id).node;
    if (is_reduction || is_index(grouping, id) || !broadcasts_into(grouping.dims(value), dims))
      return fmt::format("{} works on {}, the group of {} on {}", label(graph, node),
                         label_dims(grouping.dims(value)), label_tensor(graph, domain),
                         label_dims(dims));
    if (grouping.needs_memory(id, value, host))
      return fmt::format("{} is stored, and smaller than the group's domain {}",
                         label_tensor(graph, value), label_dims(dims));
  }
  return std::nullopt;
}

/// A value is computed once: not joined are a group that computes a node again and its original.
Obstacle check_copies(const Grouping& grouping, GroupId host, GroupId guest) {
  for (StepId id : grouping.group(guest).steps)
    for (StepId other : grouping.group(host).steps)
      if (grouping.step(id).node == grouping.step(other).node)
        return fmt::format("{} is computed in both groups",
                           label(grouping.graph(), grouping.step(id).node));
  return std::nullopt;
}

/// Every tensor that passes between the two groups is a value of the expression, where it is read.
Obstacle check_edges(const Grouping& grouping, GroupId readers, GroupId writers) {
  for (StepId reader : grouping.group(readers).steps) {
    const Step& step = grouping.step(reader);
    for (size_t port = 0; port < step.producers.size(); ++port) {
      const StepId producer = step.producers[port];
      if (producer == kNoId || grouping.step(producer).group != writers) continue;
      const Role role = grouping.step(producer).role;
      const ir::TensorId tensor = grouping.node(reader).inputs[port];
      const bool is_value =
          role == Role::kEpilogue || (role == Role::kAnchor && tensor == grouping.result(producer));
      if (is_on_domain(step.role) && is_value) continue;
      const ir::FrozenGraph& graph = grouping.graph();
      return fmt::format("{} needs all of {}, which is complete only when the group has run",
                         label(graph, step.node), label_tensor(graph, tensor));
    }
  }
  return std::nullopt;
}

Obstacle check_acyclic(const Grouping& grouping, GroupId first, GroupId second) {
  const auto way = grouping.find_detour(first, second);
  if (!way) return std::nullopt;
  const ir::FrozenGraph& graph = grouping.graph();
  const ir::NodeId reader = grouping.step(way->step).node;
  return fmt::format("{} also reads {}, which another kernel computes from this group's results",
                     label(graph, reader),
                     label_tensor(graph, graph.node(reader).inputs[way->port]));
}

size_t count_distinct(std::vector<ir::TensorId>& tensors) {
  std::sort(tensors.begin(), tensors.end());
  return static_cast<size_t>(std::unique(tensors.begin(), tensors.end()) - tensors.begin());
}

/// The joined group keeps to the bounds of its style.
Obstacle check_size(const Grouping& grouping, GroupId host, GroupId guest) {
  const auto [values, prologue_values, pointers] = measure(grouping, host, guest);
  const Style& style = grouping.style();
  if (values > style.most_values || prologue_values > style.most_values)
    return fmt::format("the group would compute with {} values; {} is the bound",
                       std::max(values, prologue_values), style.most_values);
  if (pointers > style.most_pointers)
    return fmt::format("the group would have {} inputs and outputs; {} is the bound", pointers,
                       style.most_pointers);
  return std::nullopt;
}

Obstacle check_both_ways(const Grouping& grouping, GroupId host, GroupId guest) {
  if (auto reason = check_copies(grouping, host, guest)) return reason;
  if (auto reason = check_size(grouping, host, guest)) return reason;
  if (auto reason = check_acyclic(grouping, host, guest)) return reason;
  return check_acyclic(grouping, guest, host);
}

}  // namespace

GroupSize measure(const Grouping& grouping, GroupId group, GroupId together) {
  GroupSize size;
  std::vector<ir::TensorId> loads, inputs;
  for (GroupId side : {group, together}) {
    if (side == kNoId) continue;
    const GroupId other = side == group ? together : group;
    for (StepId id : grouping.group(side).steps) {
      const Step& step = grouping.step(id);
      (step.role == Role::kPrologue ? size.prologue_values : size.values) += 1;
      for (size_t port = 0; port < step.producers.size(); ++port) {
        const ir::TensorId tensor = grouping.node(id).inputs[port];
        const StepId producer = step.producers[port];
        const GroupId from = producer == kNoId ? kNoId : grouping.step(producer).group;
        if (tensor == ir::kNoTensor || from == side || (from != kNoId && from == other)) continue;
        inputs.push_back(tensor);
        if (is_on_domain(step.role)) loads.push_back(tensor);
      }
      for (ir::TensorId output : grouping.node(id).outputs)
        if (output != ir::kNoTensor && grouping.needs_memory(id, output, other)) ++size.pointers;
    }
  }
  size.values += count_distinct(loads);
  size.pointers += count_distinct(inputs);
  return size;
}

bool broadcasts_into(const std::vector<int64_t>& dims, const std::vector<int64_t>& domain) {
  if (dims.size() > domain.size()) return false;
  const size_t shift = domain.size() - dims.size();
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] != 1 && dims[axis] != domain[axis + shift]) return false;
  return true;
}

Obstacle obstacle_to_epilogue(const Grouping& grouping, GroupId host, GroupId guest) {
  if (auto reason = check_domain(grouping, host, guest)) return reason;
  if (auto reason = check_edges(grouping, host, guest)) return reason;
  if (auto reason = check_edges(grouping, guest, host)) return reason;
  return check_both_ways(grouping, host, guest);
}

Obstacle obstacle_to_reduction(const Grouping& grouping, GroupId host, GroupId reduction) {
  const ir::FrozenGraph& graph = grouping.graph();
  const StepId id = grouping.group(reduction).anchor;
  const Step& step = grouping.step(id);
  const ir::TensorId reduced = grouping.node(id).inputs[0];
  const ir::TensorId domain = grouping.group(host).domain;
  const StepId producer = step.producers[0];
  const Role role = grouping.step(producer).role;
  if (!(role == Role::kEpilogue || (role == Role::kAnchor && reduced == grouping.result(producer))))
    return fmt::format("{} is not computed point by point", label_tensor(graph, reduced));
  if (grouping.dims(reduced) != grouping.dims(domain))
    return fmt::format("{} reduces {}, the group works on {}", label(graph, step.node),
                       label_tensor(graph, reduced), label_dims(grouping.dims(domain)));
  if (grouping.dims(grouping.result(id)).size() != grouping.dims(domain).size())
    return fmt::format("{} has another rank than {}", label_tensor(graph, grouping.result(id)),
                       label_tensor(graph, reduced));
  if (grouping.group(reduction).steps.size() > 1)
    return fmt::format("{} has operations of its own", label(graph, step.node));
  return check_both_ways(grouping, host, reduction);
}

Obstacle obstacle_to_prologue(const Grouping& grouping, GroupId host, GroupId guest) {
  const ir::FrozenGraph& graph = grouping.graph();
  for (StepId id : grouping.group(guest).steps) {
    const ir::TensorId value = grouping.result(id);
    if (grouping.is_stored(value))
      return fmt::format("{} is an output of the graph", label_tensor(graph, value));
    if (is_index(grouping, id) && is_repeated(grouping, id, guest, host))
      return fmt::format("{} counts along dims of {}, which repeats over the anchor's input",
                         label(graph, grouping.step(id).node), label_tensor(graph, value));
    for (StepId consumer : grouping.step(id).consumers) {
      const Step& reader = grouping.step(consumer);
      const bool is_inside = reader.group == guest ||
                             (reader.group == host &&
                              (reader.role == Role::kPrologue || reader.role == Role::kAnchor));
      if (!is_inside)
        return fmt::format("{} is also read by {}", label_tensor(graph, value),
                           label(graph, reader.node));
    }
  }
  return check_both_ways(grouping, host, guest);
}

}  // namespace warploom::fusion
