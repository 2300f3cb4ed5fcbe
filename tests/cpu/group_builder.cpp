#include "cpu/group_builder.h"

#include <algorithm>

#include "harness/layout.h"

namespace warploom::test {

ir::TensorId GroupBuilder::stored(const std::string& name, DataType_t type, Dims dims,
                                  const std::string& layout) {
  Dims strides = strides_of_layout(layout, dims);
  return stored(name, type, std::move(dims), std::move(strides));
}

ir::TensorId GroupBuilder::stored(const std::string& name, DataType_t type, Dims dims,
                                  Dims strides) {
  ir::Tensor tensor;
  tensor.uid = static_cast<int64_t>(graph_.tensors.size()) + 1;
  tensor.name = name;
  tensor.data_type = type;
  tensor.shape = {std::move(dims), std::move(strides)};
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<ir::TensorId>(graph_.tensors.size()) - 1;
}

ir::TensorId GroupBuilder::virtual_tensor(DataType_t type, Dims dims) {
  const ir::TensorId id =
      stored("v" + std::to_string(graph_.tensors.size()), type, std::move(dims));
  graph_.tensors.back().is_virtual = true;
  return id;
}

void GroupBuilder::anchor(fusion::AnchorKind kind, graph::Operation operation,
                          std::vector<ir::TensorId> inputs, std::vector<ir::TensorId> outputs,
                          DataType_t compute) {
  group_.anchor_kind = kind;
  group_.anchor = static_cast<ir::NodeId>(graph_.nodes.size());
  for (ir::TensorId input : inputs)
    if (input != ir::kNoTensor && !graph_.tensor(input).is_virtual) add_input(input);
  for (ir::TensorId output : outputs)
    if (output != ir::kNoTensor && !graph_.tensor(output).is_virtual)
      group_.outputs.push_back(output);
  graph_.nodes.push_back(
      {"anchor", compute, std::move(operation), std::move(inputs), std::move(outputs)});
}

void GroupBuilder::begin_prologue(size_t port) {
  in_prologue_ = true;
  group_.prologues.push_back({port, {}});
  group_.prologues.back().expression.domain = graph_.node(group_.anchor).inputs[port];
}

void GroupBuilder::begin_epilogue(ir::TensorId domain) {
  in_prologue_ = false;
  group_.epilogue.domain = domain;
}

fusion::Expression& GroupBuilder::expression() {
  return in_prologue_ ? group_.prologues.back().expression : group_.epilogue;
}

void GroupBuilder::add_input(ir::TensorId tensor) {
  auto& inputs = group_.inputs;
  if (std::find(inputs.begin(), inputs.end(), tensor) == inputs.end()) inputs.push_back(tensor);
}

int GroupBuilder::anchor_value() {
  expression().values.push_back({.kind = fusion::ExpressionValue::Kind::kAnchor,
                                 .tensor = graph_.node(group_.anchor).outputs[0]});
  return static_cast<int>(expression().values.size()) - 1;
}

int GroupBuilder::load(ir::TensorId tensor) {
  add_input(tensor);
  expression().values.push_back({.kind = fusion::ExpressionValue::Kind::kLoad, .tensor = tensor});
  return static_cast<int>(expression().values.size()) - 1;
}

int GroupBuilder::pointwise(PointwiseMode_t mode, std::vector<int> operands, ir::TensorId result,
                            DataType_t compute) {
  graph::Pointwise_attributes attributes;
  attributes.set_mode(mode);
  return pointwise(attributes, std::move(operands), result, compute);
}

int GroupBuilder::pointwise(const graph::Pointwise_attributes& operation, std::vector<int> operands,
                            ir::TensorId result, DataType_t compute) {
  fusion::ExpressionValue value{.kind = fusion::ExpressionValue::Kind::kPointwise,
                                .tensor = result};
  value.node = static_cast<ir::NodeId>(graph_.nodes.size());
  std::copy(operands.begin(), operands.end(), value.operands);
  std::vector<ir::TensorId> inputs;
  for (int operand : operands)
    inputs.push_back(expression().values[static_cast<size_t>(operand)].tensor);
  graph_.nodes.push_back({"pointwise", compute, operation, inputs, {result}});
  const ir::Tensor& tensor = graph_.tensor(result);
  value.is_rounded =
      !tensor.is_virtual || tensor.data_type == DataType_t::INT8 ||
      tensor.data_type == DataType_t::UINT8 || tensor.data_type == DataType_t::INT32 ||
      tensor.data_type == DataType_t::INT64 || tensor.data_type == DataType_t::BOOLEAN;
  expression().values.push_back(value);
  return static_cast<int>(expression().values.size()) - 1;
}

void GroupBuilder::store(int value) {
  const ir::TensorId tensor = expression().values[static_cast<size_t>(value)].tensor;
  expression().values[static_cast<size_t>(value)].is_rounded = true;
  expression().outputs.push_back({value, tensor, ir::kNoNode});
  if (std::find(group_.outputs.begin(), group_.outputs.end(), tensor) == group_.outputs.end())
    group_.outputs.push_back(tensor);
}

void GroupBuilder::reduce(int value, ReductionMode_t mode, ir::TensorId result,
                          DataType_t compute) {
  graph::Reduction_attributes attributes;
  attributes.set_mode(mode);
  const auto node = static_cast<ir::NodeId>(graph_.nodes.size());
  graph_.nodes.push_back({"reduction",
                          compute,
                          attributes,
                          {expression().values[static_cast<size_t>(value)].tensor},
                          {result}});
  expression().outputs.push_back({value, result, node});
  group_.outputs.push_back(result);
}

fusion::FusionGroup GroupBuilder::build() {
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    group_.nodes.push_back(static_cast<ir::NodeId>(i));
    for (ir::TensorId output : graph_.nodes[i].outputs)
      if (output != ir::kNoTensor)
        graph_.tensors[static_cast<size_t>(output)].producer = static_cast<ir::NodeId>(i);
  }
  group_.graph = std::make_shared<const ir::FrozenGraph>(graph_);
  return group_;
}

}  // namespace warploom::test
