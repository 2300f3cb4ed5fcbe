#include "fusion/view.h"

#include "fusion/partition.h"
#include "ops/reshape_axes.h"
#include "ops/virtual_strides.h"

namespace warploom::fusion {

namespace {

bool same_strides(const ir::Shape& shape, const std::vector<int64_t>& strides) {
  return ops::have_same_strides(shape.dims, shape.strides, strides);
}

bool is_row_major(const ir::Shape& shape) {
  return ops::is_row_major(shape.dims, shape.strides);
}

/// Whether plans choose the strides of this tensor's memory.
bool is_kept_by_plan(const ir::FrozenGraph& graph, const ir::Tensor& tensor) {
  return tensor.is_virtual && tensor.producer != ir::kNoNode && !is_view(graph, tensor.producer);
}

int64_t last_offset(const ir::Shape& shape) {
  int64_t offset = 0;
  for (size_t axis = 0; axis < shape.dims.size(); ++axis)
    offset += (shape.dims[axis] - 1) * shape.strides[axis];
  return offset;
}

/// `keeps_row_major`: `from` is row-major now and will be for other shapes.
bool is_view(const graph::Reshape_attributes& reshape, const ir::Shape& from, const ir::Shape& to,
             bool keeps_row_major) {
  if (reshape.get_reshape_mode() == ReshapeMode_t::VIEW_ONLY)
    return last_offset(to) <= last_offset(from);
  if (const auto split = ops::split_strides(from, to.dims); split && same_strides(to, *split))
    return true;
  return keeps_row_major && is_row_major(to);
}

}  // namespace

bool is_view(const ir::FrozenGraph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const ir::Tensor& from = graph.tensor(node.inputs[0]);
  const ir::Tensor& to = graph.tensor(node.outputs[0]);
  if (!to.is_virtual || from.is_pass_by_value || from.value || from.data_type != to.data_type ||
      from.shape.volume() == 0 || detail::get_data_type_size(to.data_type) == 0)  // no address
    return false;
  if (const auto* reshape = std::get_if<graph::Reshape_attributes>(&node.operation)) {
    const bool keeps_row_major =
        is_row_major(from.shape) && (!graph.has_variable_shapes || is_kept_by_plan(graph, from));
    return is_view(*reshape, from.shape, to.shape, keeps_row_major);
  }
  const std::vector<int64_t> strides = ops::view_strides(node.operation, from.shape.strides);
  return !strides.empty() && same_strides(to.shape, strides);
}

int64_t view_offset(const ir::FrozenGraph& graph, ir::NodeId id, ir::ShapeTable shapes) {
  const ir::Node& node = graph.node(id);
  const auto* slice = std::get_if<graph::Slice_attributes>(&node.operation);
  if (!slice) return 0;
  const std::vector<int64_t>& strides = shapes[static_cast<size_t>(node.inputs[0])].strides;
  int64_t offset = 0;
  for (size_t axis = 0; axis < slice->get_slices().size(); ++axis)
    offset += slice->get_slices()[axis].first * strides[axis];
  return offset;
}

int64_t view_offset(const ir::FrozenGraph& graph, const Alias& alias, ir::ShapeTable shapes) {
  int64_t offset = 0;
  for (ir::TensorId tensor = alias.tensor; tensor != alias.source;) {
    const ir::NodeId producer = graph.tensor(tensor).producer;
    offset += view_offset(graph, producer, shapes);
    tensor = graph.node(producer).inputs[0];
  }
  return offset;
}

}  // namespace warploom::fusion
