#include "fusion/reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/reflection.h"

namespace warploom::fusion {

std::string label(const ir::FrozenGraph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  std::string operation(ops::tag(node.operation));
  if (const auto* pointwise = std::get_if<graph::Pointwise_attributes>(&node.operation))
    operation = to_string(pointwise->get_mode());
  if (const auto* reduction = std::get_if<graph::Reduction_attributes>(&node.operation))
    operation += fmt::format(" {}", to_string(reduction->get_mode()));
  return node.name.empty() ? fmt::format("{} (node {})", operation, id)
                           : fmt::format("{} '{}'", operation, node.name);
}

std::string label_tensor(const ir::FrozenGraph& graph, ir::TensorId id) {
  const ir::Tensor& tensor = graph.tensor(id);
  return tensor.name.empty()
             ? fmt::format("tensor {} {}", tensor.uid, label_dims(tensor.shape.dims))
             : fmt::format("'{}' {}", tensor.name, label_dims(tensor.shape.dims));
}

std::string label_dims(const std::vector<int64_t>& dims) {
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

}  // namespace warploom::fusion
