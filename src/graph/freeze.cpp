#include "graph/freeze.h"

#include <unordered_map>
#include <unordered_set>

#include "base/data_type.h"
#include "graph/order.h"
#include "ops/ragged.h"
#include "ops/reflection.h"
#include "ops/virtual_strides.h"

namespace warploom::graph {
namespace {

/// Every tensor of the nodes, each once: node order, then inputs, outputs and their ragged offsets.
std::vector<TensorPtr> tensors_of_nodes(const Description& description) {
  std::vector<TensorPtr> tensors;
  std::unordered_set<const Tensor_attributes*> seen;
  auto add = [&](const TensorPtr& tensor) {
    for (TensorPtr next = tensor; next && seen.insert(next.get()).second;
         next = next->get_ragged_offset())
      tensors.push_back(next);
  };
  for (const Operation& operation : description.nodes) {
    for (const TensorPtr& input : ops::inputs(operation)) add(input);
    for (const TensorPtr& output : ops::outputs(operation)) add(output);
  }
  return tensors;
}

void assign_uids(const Description& description, const std::vector<TensorPtr>& tensors) {
  std::unordered_set<int64_t> used;
  for (const auto& list : {description.tensors, tensors})
    for (const TensorPtr& tensor : list)
      if (tensor->has_uid()) used.insert(tensor->get_uid());
  int64_t next = 1;
  for (const TensorPtr& tensor : tensors) {
    if (tensor->has_uid()) continue;
    while (used.contains(next)) ++next;
    tensor->set_uid(next++);
  }
}

ir::Tensor tensor_row(const Tensor_attributes& attributes) {
  ir::Tensor row;
  row.uid = attributes.get_uid();
  row.name = attributes.get_name();
  row.data_type = row.declared_type = attributes.get_data_type();
  row.shape = {attributes.get_dim(), attributes.get_stride()};
  row.is_virtual = attributes.get_is_virtual();
  row.is_pass_by_value = attributes.get_is_pass_by_value();
  row.is_compile_time_constant = attributes.get_has_compile_time_constant();
  row.value = row.is_compile_time_constant ? attributes.get_compile_time_constant()
                                           : attributes.get_pass_by_value();
  row.alignment = attributes.get_alignment();
  // Where nobody sees the memory, its order is nobody's business.
  row.reordering = row.is_virtual ? TensorReordering_t::NONE : attributes.get_reordering_type();
  return row;
}

bool is_movement(const Operation& operation) {
  return std::holds_alternative<Reshape_attributes>(operation) ||
         std::holds_alternative<Transpose_attributes>(operation) ||
         std::holds_alternative<Slice_attributes>(operation) ||
         std::holds_alternative<Concatenate_attributes>(operation);
}

/// Where plans serve other shapes too, what they rely on must not follow from strides that the user
/// gives: virtual tensors get strides of their own.
void set_own_strides(const ir::FrozenGraph& graph, const ir::Node& node, ir::Tensor& result,
                     const Operation& described) {
  if (!result.is_virtual) return;
  const TensorPtr& x = ops::inputs(described)[0];
  result.shape.strides =
      ops::virtual_strides(described, {{x->get_dim(), x->get_stride()}, result.shape},
                           graph.tensor(node.inputs[0]).shape.strides, result.shape.dims);
}

/// See freeze() in the header.
DataType_t carried_type(const ir::FrozenGraph& graph, const ir::Node& node,
                        const ir::Tensor& result) {
  if (!result.is_virtual || !base::fits_float(result.data_type)) return result.data_type;
  if (is_movement(node.operation)) {
    // As the inputs are carried; of a concatenation, as the widest is.
    DataType_t widest = graph.tensor(node.inputs[0]).data_type;
    for (ir::TensorId input : node.inputs) {
      if (input == ir::kNoTensor) continue;
      const DataType_t type = graph.tensor(input).data_type;
      if (detail::get_data_type_size(type) > detail::get_data_type_size(widest)) widest = type;
    }
    return widest;
  }
  return node.compute_data_type == DataType_t::DOUBLE ? DataType_t::DOUBLE : DataType_t::FLOAT;
}

}  // namespace

Result<std::shared_ptr<const ir::FrozenGraph>> freeze(const Description& described) {
  Description description = described;
  for (Operation& operation : description.nodes) ops::set_ragged_ports(operation);
  auto order = topological_order(description);
  CHECK_WARPLOOM_ERROR(order.error());
  const std::vector<TensorPtr> tensors = tensors_of_nodes(description);
  assign_uids(description, tensors);

  auto graph = std::make_shared<ir::FrozenGraph>();
  graph->name = description.name;
  graph->has_variable_shapes =
      description.is_dynamic_shape_enabled || description.is_override_shape_enabled;
  std::unordered_map<const Tensor_attributes*, ir::TensorId> ids;
  for (const TensorPtr& tensor : tensors) {
    ids.emplace(tensor.get(), static_cast<ir::TensorId>(graph->tensors.size()));
    graph->tensors.push_back(tensor_row(*tensor));
  }
  auto id_of = [&](const TensorPtr& tensor) {
    return tensor ? ids.at(tensor.get()) : ir::kNoTensor;
  };
  for (const TensorPtr& tensor : tensors)
    graph->tensors[id_of(tensor)].ragged_offset = id_of(tensor->get_ragged_offset());

  for (size_t index : order.value()) {
    const Operation& declared = description.nodes[index];
    const auto id = static_cast<ir::NodeId>(graph->nodes.size());
    ir::Node& node = graph->nodes.emplace_back();
    node.name = ops::name(declared);
    node.compute_data_type = ops::compute_data_type(declared);
    node.operation = declared;
    std::visit(
        [](auto& attributes) {
          attributes.inputs.clear();
          attributes.outputs.clear();
        },
        node.operation);
    for (const TensorPtr& input : ops::inputs(declared)) {
      node.inputs.push_back(id_of(input));
      if (!input) continue;
      std::vector<ir::NodeId>& consumers = graph->tensors[node.inputs.back()].consumers;
      if (consumers.empty() || consumers.back() != id) consumers.push_back(id);
    }
    for (const TensorPtr& output : ops::outputs(declared)) {
      node.outputs.push_back(id_of(output));
      if (!output) continue;
      ir::Tensor& row = graph->tensors[node.outputs.back()];
      row.producer = id;
      row.data_type = carried_type(*graph, node, row);
      if (graph->has_variable_shapes) set_own_strides(*graph, node, row, declared);
    }
  }
  return std::shared_ptr<const ir::FrozenGraph>(std::move(graph));
}

}  // namespace warploom::graph
