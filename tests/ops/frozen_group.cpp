#include "ops/frozen_group.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/data_type.h"
#include "ops/reflection.h"

namespace warploom::test {
namespace {

DataType_t carried_type(const graph::Tensor_attributes& tensor, const graph::Operation& producer) {
  if (!tensor.get_is_virtual() || !base::is_floating(tensor.get_data_type()))
    return tensor.get_data_type();
  return ops::compute_data_type(producer) == DataType_t::DOUBLE ? DataType_t::DOUBLE
                                                                : DataType_t::FLOAT;
}

}  // namespace

FrozenGroup::FrozenGroup(std::vector<graph::Operation> operations, const ops::GraphTypes& types) {
  const auto add = [&](const TensorPtr& attributes, const graph::Operation* producer) {
    if (!attributes) return ir::kNoTensor;
    if (ir::TensorId known = id(attributes); known != ir::kNoTensor) return known;
    tensors.push_back(attributes);
    ir::Tensor& tensor = graph->tensors.emplace_back();
    tensor.uid = static_cast<int64_t>(tensors.size());
    tensor.name = attributes->get_name();
    tensor.data_type =
        producer ? carried_type(*attributes, *producer) : attributes->get_data_type();
    tensor.shape = {attributes->get_dim(), attributes->get_stride()};
    tensor.is_virtual = attributes->get_is_virtual();
    tensor.is_pass_by_value = attributes->get_is_pass_by_value();
    tensor.value = attributes->get_pass_by_value();
    const auto new_id = static_cast<ir::TensorId>(tensors.size()) - 1;
    if (!producer) group.inputs.push_back(new_id);
    if (producer && !tensor.is_virtual) group.outputs.push_back(new_id);
    return new_id;
  };
  for (graph::Operation& operation : operations) {
    const error_t error = ops::infer_and_validate(operation, types);
    EXPECT_TRUE(error.is_good()) << error.err_msg;
    ir::Node node;
    node.name = ops::name(operation);
    node.compute_data_type = ops::compute_data_type(operation);
    for (const TensorPtr& tensor : ops::inputs(operation))
      node.inputs.push_back(add(tensor, nullptr));
    for (const TensorPtr& tensor : ops::outputs(operation))
      node.outputs.push_back(add(tensor, &operation));
    ops::inputs(operation).clear();
    ops::outputs(operation).clear();
    node.operation = operation;
    group.nodes.push_back(static_cast<ir::NodeId>(graph->nodes.size()));
    graph->nodes.push_back(node);
  }
  group.graph = graph;
}

ir::TensorId FrozenGroup::id(const TensorPtr& tensor) const {
  const auto found = std::ranges::find(tensors, tensor);
  return found == tensors.end() ? ir::kNoTensor
                                : static_cast<ir::TensorId>(found - tensors.begin());
}

std::vector<ir::Shape> FrozenGroup::shapes() const {
  std::vector<ir::Shape> shapes;
  for (const ir::Tensor& tensor : graph->tensors) shapes.push_back(tensor.shape);
  return shapes;
}

}  // namespace warploom::test
