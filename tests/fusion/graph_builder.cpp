#include "fusion/graph_builder.h"

#include <algorithm>

namespace warploom::fusion_test {

namespace {

std::vector<int64_t> row_major(const Dims& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t axis = dims.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * std::max<int64_t>(dims[axis], 1);
  return strides;
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()), 1);
  for (const Dims* dims : {&a, &b})
    for (size_t axis = 0; axis < dims->size(); ++axis) {
      int64_t& dim = result[axis + result.size() - dims->size()];
      if (dim == 1) dim = (*dims)[axis];
    }
  return result;
}

}  // namespace

Id GraphBuilder::add_tensor(Dims dims, const std::string& name, DataType_t type) {
  ir::Tensor tensor;
  tensor.uid = static_cast<int64_t>(graph_.tensors.size()) + 1;
  tensor.name = name;
  tensor.data_type = type;
  tensor.shape.strides = row_major(dims);
  tensor.shape.dims = std::move(dims);
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<Id>(graph_.tensors.size()) - 1;
}

Id GraphBuilder::add_node(graph::Operation operation, std::vector<Id> inputs, Dims dims,
                          const std::string& name) {
  const auto node_id = static_cast<ir::NodeId>(graph_.nodes.size());
  ir::Node node;
  node.name = name.empty() ? std::to_string(node_id) : name;
  node.compute_data_type = DataType_t::FLOAT;
  for (Id input : inputs) {
    if (input == ir::kNoTensor) continue;
    auto& consumers = tensor(input).consumers;
    if (consumers.empty() || consumers.back() != node_id) consumers.push_back(node_id);
  }
  const Id result = add_tensor(std::move(dims), node.name + "::OUT", DataType_t::FLOAT);
  tensor(result).is_virtual = true;
  tensor(result).producer = node_id;
  node.operation = std::move(operation);
  node.inputs = std::move(inputs);
  node.outputs = {result};
  graph_.nodes.push_back(std::move(node));
  return result;
}

Id GraphBuilder::input(Dims dims, const std::string& name, DataType_t type) {
  return add_tensor(std::move(dims), name, type);
}

Id GraphBuilder::scalar(float value, const std::string& name) {
  const Id id = add_tensor({1}, name, DataType_t::FLOAT);
  tensor(id).is_pass_by_value = true;
  tensor(id).value = value;
  return id;
}

Id GraphBuilder::pointwise(PointwiseMode_t mode, std::vector<Id> inputs, const std::string& name) {
  Dims result = dims(inputs[0]);
  for (Id input : inputs) result = broadcast(result, dims(input));
  inputs.resize(3, ir::kNoTensor);
  return add_node(graph::Pointwise_attributes().set_mode(mode), inputs, result, name);
}

Id GraphBuilder::index(Id like, int64_t axis, const std::string& name) {
  auto attributes =
      graph::Pointwise_attributes().set_mode(PointwiseMode_t::GEN_INDEX).set_axis(axis);
  return add_node(attributes, {like, ir::kNoTensor, ir::kNoTensor}, dims(like), name);
}

Id GraphBuilder::matmul(Id a, Id b, const std::string& name) {
  Dims left = dims(a), right = dims(b);
  const int64_t m = left[left.size() - 2], n = right.back();
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  Dims result = broadcast(left, right);
  result.insert(result.end(), {m, n});
  return add_node(graph::Matmul_attributes(), {a, b, -1, -1, -1}, result, name);
}

Id GraphBuilder::conv(Id x, Id w, const std::string& name) {
  Dims result = dims(x);
  result[1] = dims(w)[0];
  const std::vector<int64_t> padding{dims(w)[2] / 2, dims(w)[3] / 2}, ones{1, 1};
  auto attributes =
      graph::Conv_fprop_attributes().set_padding(padding).set_stride(ones).set_dilation(ones);
  return add_node(attributes, {x, w}, result, name);
}

std::pair<Id, Id> GraphBuilder::attention(Id q, Id k, Id v, const std::string& name) {
  Dims result = dims(q), stats = dims(q);
  result[3] = dims(v)[3];
  stats[3] = 1;
  std::vector<Id> inputs(std::size(graph::SDPA_attributes::kInputs), ir::kNoTensor);
  std::copy_n(std::vector<Id>{q, k, v}.begin(), 3, inputs.begin());
  const Id o = add_node(graph::SDPA_attributes().set_generate_stats(true), inputs, result, name);
  const Id statistics = add_tensor(stats, name + "::Stats", DataType_t::FLOAT);
  tensor(statistics).is_virtual = true;
  tensor(statistics).producer = tensor(o).producer;
  graph_.nodes.back().outputs.assign(std::size(graph::SDPA_attributes::kOutputs), ir::kNoTensor);
  graph_.nodes.back().outputs[0] = o;
  graph_.nodes.back().outputs[1] = statistics;
  return {o, statistics};
}

Id GraphBuilder::softmax(Id x, const std::string& name) {
  const Id result = add_node(graph::Softmax_attributes(), {x, -1}, dims(x), name);
  graph_.nodes.back().outputs.resize(std::size(graph::Softmax_attributes::kOutputs), ir::kNoTensor);
  return result;
}

Id GraphBuilder::reduce(ReductionMode_t mode, Id x, Dims dims, const std::string& name) {
  return add_node(graph::Reduction_attributes().set_mode(mode), {x}, std::move(dims), name);
}

Id GraphBuilder::transpose(Id x, std::vector<int64_t> permutation, const std::string& name) {
  const ir::Shape from = tensor(x).shape;
  ir::Shape to;
  for (int64_t axis : permutation) {
    to.dims.push_back(from.dims[static_cast<size_t>(axis)]);
    to.strides.push_back(from.strides[static_cast<size_t>(axis)]);
  }
  const Id result =
      add_node(graph::Transpose_attributes().set_permutation(permutation), {x}, to.dims, name);
  tensor(result).shape = to;
  tensor(result).data_type = tensor(x).data_type;
  return result;
}

Id GraphBuilder::slice(Id x, std::vector<std::pair<int64_t, int64_t>> slices,
                       const std::string& name) {
  ir::Shape to = tensor(x).shape;
  for (size_t axis = 0; axis < slices.size(); ++axis)
    to.dims[axis] = slices[axis].second - slices[axis].first;
  const Id result = add_node(graph::Slice_attributes().set_slices(slices), {x}, to.dims, name);
  tensor(result).shape = to;
  tensor(result).data_type = tensor(x).data_type;
  return result;
}

Id GraphBuilder::reshape(Id x, Dims dims, ReshapeMode_t mode, const std::string& name) {
  const Id result =
      add_node(graph::Reshape_attributes().set_reshape_mode(mode), {x}, std::move(dims), name);
  tensor(result).data_type = tensor(x).data_type;
  return result;
}

Id GraphBuilder::output(Id id) {
  tensor(id).is_virtual = false;
  return id;
}

}  // namespace warploom::fusion_test
