#include "engines/reference/cost.h"

#include <algorithm>

#include "ops/convolution_parts.h"

namespace warploom::engines::reference {
namespace {

// One multiply-add, and one element read or written, of these loops on a current processor.
constexpr double kMicrosecondsPerMultiply = 1e-3;
constexpr double kMicrosecondsPerElement = 2e-2;

double volume(const ir::FrozenGraph& graph, ir::TensorId tensor) {
  double product = 1;
  for (int64_t dim : graph.tensor(tensor).shape.dims) product *= static_cast<double>(dim);
  return product;
}

double multiplies(const ir::FrozenGraph& graph, const ir::Node& node) {
  if (std::holds_alternative<graph::Matmul_attributes>(node.operation))
    return volume(graph, node.outputs[0]) *
           static_cast<double>(graph.tensor(node.inputs[0]).shape.dims.back());
  if (const auto parts = ops::find_parts(node.operation)) {
    const ir::TensorId filter = parts->w.of(node.inputs, node.outputs);
    return volume(graph, parts->y.of(node.inputs, node.outputs)) * volume(graph, filter) /
           std::max<double>(static_cast<double>(graph.tensor(filter).shape.dims[0]), 1);
  }
  if (std::holds_alternative<graph::SDPA_attributes>(node.operation)) {
    const auto& keys = graph.tensor(node.inputs[1]).shape.dims;
    return 2 * volume(graph, node.inputs[0]) * static_cast<double>(keys[2]);
  }
  if (std::holds_alternative<graph::SDPA_backward_attributes>(node.operation)) {
    const auto& keys = graph.tensor(node.inputs[1]).shape.dims;
    return 5 * volume(graph, node.inputs[0]) * static_cast<double>(keys[2]);
  }
  return 0;
}

}  // namespace

double predicted_microseconds(const fusion::FusionGroup& group) {
  const ir::FrozenGraph& graph = *group.graph;
  double total = 0;
  for (ir::NodeId id : group.nodes) {
    const ir::Node& node = graph.node(id);
    total += kMicrosecondsPerMultiply * multiplies(graph, node);
    for (const auto* tensors : {&node.inputs, &node.outputs})
      for (ir::TensorId tensor : *tensors)
        if (tensor != ir::kNoTensor) total += kMicrosecondsPerElement * volume(graph, tensor);
  }
  return total;
}

}  // namespace warploom::engines::reference
