#include "graph/validate.h"

#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "graph/describe.h"
#include "graph/order.h"
#include "ops/check.h"
#include "ops/reflection.h"

namespace warploom::graph {
namespace {

using TensorSet = std::unordered_set<const Tensor_attributes*>;

TensorSet all_results(const Description& description) {
  TensorSet results;
  for (const Operation& operation : description.nodes)
    for (const TensorPtr& output : ops::outputs(operation))
      if (output) results.insert(output.get());
  return results;
}

error_t check_inputs_have_memory(const Operation& operation, const TensorSet& results) {
  for (size_t port = 0; port < ops::inputs(operation).size(); ++port) {
    const TensorPtr& input = ops::inputs(operation)[port];
    if (input && input->get_is_virtual() && !results.contains(input.get()))
      return {error_code_t::INVALID_VALUE,
              fmt::format(
                  "{}: input {} (tensor \"{}\") is virtual, but no operation produces it; an "
                  "input of the graph has set_is_virtual(false)",
                  describe(operation), ops::input_ports(operation)[port].name, input->get_name())};
  }
  return {};
}

error_t check_results(const Operation& operation) {
  for (size_t port = 0; port < ops::outputs(operation).size(); ++port) {
    const TensorPtr& output = ops::outputs(operation)[port];
    if (!output) continue;
    if (output->get_is_pass_by_value())
      return {error_code_t::INVALID_VALUE,
              fmt::format("{}: output {} (tensor \"{}\") is pass-by-value; results are written to "
                          "memory or virtual",
                          describe(operation), ops::output_ports(operation)[port].name,
                          output->get_name())};
  }
  return {};
}

error_t check_uids(const Description& description) {
  std::unordered_map<int64_t, const Tensor_attributes*> owners;
  auto claim = [&](const TensorPtr& tensor) -> error_t {
    if (!tensor || !tensor->has_uid()) return {};
    const auto [place, is_new] = owners.emplace(tensor->get_uid(), tensor.get());
    if (is_new || place->second == tensor.get()) return {};
    return {
        error_code_t::INVALID_VALUE,
        fmt::format("uid {} is given to two tensors, \"{}\" and \"{}\"; uids are unique in a graph",
                    tensor->get_uid(), place->second->get_name(), tensor->get_name())};
  };
  for (const TensorPtr& tensor : description.tensors) CHECK_WARPLOOM_ERROR(claim(tensor));
  for (const Operation& operation : description.nodes)
    for (const TensorPtr& output : ops::outputs(operation)) CHECK_WARPLOOM_ERROR(claim(output));
  return {};
}

}  // namespace

error_t validate(Description& description) {
  auto order = topological_order(description);
  CHECK_WARPLOOM_ERROR(order.error());

  const TensorSet results = all_results(description);
  for (const TensorPtr& tensor : description.tensors)
    if (!results.contains(tensor.get())) CHECK_WARPLOOM_ERROR(ops::check_tensor(*tensor));

  const ops::GraphTypes types{description.io_data_type, description.intermediate_data_type,
                              description.compute_data_type};
  for (size_t index : order.value()) {
    Operation& operation = description.nodes[index];
    CHECK_WARPLOOM_ERROR(check_inputs_have_memory(operation, results));
    CHECK_WARPLOOM_ERROR(ops::infer_and_validate(operation, types));
    CHECK_WARPLOOM_ERROR(check_results(operation));
  }
  return check_uids(description);
}

}  // namespace warploom::graph
