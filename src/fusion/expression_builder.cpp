#include "fusion/expression_builder.h"

namespace warploom::fusion {

namespace {

/// Virtual floats stay in the precision in which they were computed.
bool is_rounded(const ir::Tensor& tensor) {
  switch (tensor.data_type) {
    case DataType_t::FLOAT:
    case DataType_t::DOUBLE:
    case DataType_t::HALF:
    case DataType_t::BFLOAT16:
      return !tensor.is_virtual;
    default:
      return true;
  }
}

}  // namespace

ExpressionBuilder::ExpressionBuilder(const Grouping& grouping, ir::TensorId domain)
    : grouping_(grouping) {
  expression_.domain = domain;
}

int32_t ExpressionBuilder::append(ExpressionValue value) {
  expression_.values.push_back(value);
  return static_cast<int32_t>(expression_.values.size()) - 1;
}

void ExpressionBuilder::add_anchor(StepId anchor) {
  const ir::TensorId tensor = grouping_.result(anchor);
  values_[anchor] = append({.kind = ExpressionValue::Kind::kAnchor,
                            .tensor = tensor,
                            .is_rounded = is_rounded(grouping_.graph().tensor(tensor))});
}

int32_t ExpressionBuilder::operand(StepId producer, ir::TensorId tensor) {
  if (const auto value = values_.find(producer); value != values_.end()) return value->second;
  const auto [place, is_new] = loaded_.try_emplace(tensor, -1);
  if (is_new) {
    place->second = append({.kind = ExpressionValue::Kind::kLoad, .tensor = tensor});
    loads_.push_back(tensor);
  }
  return place->second;
}

void ExpressionBuilder::add(StepId id) {
  const Step& step = grouping_.step(id);
  const ir::Node& node = grouping_.node(id);
  const ir::TensorId tensor = grouping_.result(id);
  ExpressionValue value{.kind = ExpressionValue::Kind::kPointwise,
                        .tensor = tensor,
                        .node = step.node,
                        .is_rounded = is_rounded(grouping_.graph().tensor(tensor))};
  for (size_t port = 0; port < node.inputs.size() && port < 3; ++port)
    if (node.inputs[port] != ir::kNoTensor)
      value.operands[port] = operand(step.producers[port], node.inputs[port]);
  values_[id] = append(value);
}

void ExpressionBuilder::store(StepId id) {
  expression_.outputs.push_back({.value = values_.at(id), .tensor = grouping_.result(id)});
}

void ExpressionBuilder::reduce(StepId id) {
  expression_.outputs.push_back({.value = values_.at(grouping_.step(id).producers[0]),
                                 .tensor = grouping_.result(id),
                                 .reduction = grouping_.step(id).node});
}

}  // namespace warploom::fusion
