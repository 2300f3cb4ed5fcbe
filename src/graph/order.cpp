#include "graph/order.h"

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "graph/describe.h"
#include "ops/families.h"
#include "ops/reflection.h"

namespace warploom::graph {
namespace {

using Producers = std::unordered_map<const Tensor_attributes*, size_t>;

error_t find_producers(const Description& description, Producers& producers) {
  for (size_t index = 0; index < description.nodes.size(); ++index) {
    const Operation& node = description.nodes[index];
    for (size_t port = 0; port < ops::outputs(node).size(); ++port) {
      const TensorPtr& output = ops::outputs(node)[port];
      if (!output) continue;
      const auto [place, is_new] = producers.emplace(output.get(), index);
      if (!is_new)
        return {error_code_t::INVALID_VALUE,
                fmt::format("Tensor \"{}\" is the result of two operations: {} and {} (port {}); a "
                            "tensor has one producer",
                            output->get_name(), describe(description.nodes[place->second]),
                            describe(node), ops::output_ports(node)[port].name)};
    }
  }
  return {};
}

// Kahn's algorithm left nodes over: walking back from any of them along unfinished producers ends
// in a cycle.
error_t cycle_error(const Description& description, const Producers& producers,
                    const std::vector<size_t>& missing_inputs) {
  size_t index = 0;
  while (missing_inputs[index] == 0) ++index;
  std::vector<size_t> path;
  std::unordered_set<size_t> seen;
  while (seen.insert(index).second) {
    path.push_back(index);
    for (const TensorPtr& input : ops::inputs(description.nodes[index])) {
      const auto producer = input ? producers.find(input.get()) : producers.end();
      if (producer == producers.end() || missing_inputs[producer->second] == 0) continue;
      index = producer->second;
      break;
    }
  }
  std::string text = describe(description.nodes[index]);
  for (size_t i = path.size(); i-- > 0;) {
    text += " -> " + describe(description.nodes[path[i]]);
    if (path[i] == index) break;
  }
  return {error_code_t::INVALID_VALUE, "The graph has a cycle: " + text};
}

}  // namespace

Result<std::vector<size_t>> topological_order(const Description& description) {
  const size_t count = description.nodes.size();
  Producers producers;
  CHECK_WARPLOOM_ERROR(find_producers(description, producers));
  std::unordered_set<const Tensor_attributes*> registered;
  for (const TensorPtr& tensor : description.tensors) registered.insert(tensor.get());

  std::vector<size_t> missing_inputs(count, 0);
  std::vector<std::vector<size_t>> consumers(count);
  for (size_t index = 0; index < count; ++index) {
    const Operation& node = description.nodes[index];
    for (size_t port = 0; port < ops::inputs(node).size(); ++port) {
      const TensorPtr& input = ops::inputs(node)[port];
      if (!input) continue;
      // A stored scalar may come from a setter that takes a number.
      if (const auto producer = producers.find(input.get()); producer != producers.end()) {
        consumers[producer->second].push_back(index);
        ++missing_inputs[index];
      } else if (!registered.contains(input.get()) && !ops::is_stored_scalar(*input)) {
        return error_t{
            error_code_t::INVALID_VALUE,
            fmt::format("{}: input {} (tensor \"{}\") is not a tensor of this graph; "
                        "inputs are made by this graph's tensor() or are results of "
                        "its operations",
                        describe(node), ops::input_ports(node)[port].name, input->get_name())};
      }
    }
  }

  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t index = 0; index < count; ++index)
    if (missing_inputs[index] == 0) ready.push(index);
  std::vector<size_t> order;
  order.reserve(count);
  while (!ready.empty()) {
    const size_t index = ready.top();
    ready.pop();
    order.push_back(index);
    for (size_t consumer : consumers[index])
      if (--missing_inputs[consumer] == 0) ready.push(consumer);
  }
  if (order.size() != count) return cycle_error(description, producers, missing_inputs);
  return order;
}

}  // namespace warploom::graph
