#include "fusion/group_checks.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "fusion/group_text.h"

namespace warploom::fusion_test {

namespace {

using fusion::AnchorKind;
using fusion::Expression;
using fusion::ExpressionOutput;
using fusion::ExpressionValue;
using fusion::FusionGroup;
using Kind = ExpressionValue::Kind;

bool fits(const std::vector<int64_t>& dims, const std::vector<int64_t>& domain) {
  if (dims.size() > domain.size()) return false;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t partner = domain[domain.size() - dims.size() + axis];
    if (dims[axis] != 1 && dims[axis] != partner) return false;
  }
  return true;
}

bool must_round(const ir::Tensor& tensor) {
  const bool is_float =
      tensor.data_type == DataType_t::FLOAT || tensor.data_type == DataType_t::DOUBLE ||
      tensor.data_type == DataType_t::HALF || tensor.data_type == DataType_t::BFLOAT16;
  return !tensor.is_virtual || !is_float;
}

void check_value(const FusionGroup& group, const Expression& expression, size_t index) {
  const ExpressionValue& value = expression.values[index];
  const ir::Tensor& tensor = group.tensor(value.tensor);
  const auto& domain = group.tensor(expression.domain).shape.dims;
  EXPECT_TRUE(fits(tensor.shape.dims, domain));
  if (value.kind != Kind::kPointwise) return;
  EXPECT_EQ(value.is_rounded, must_round(tensor));
  const ir::Node& node = group.node(value.node);
  EXPECT_EQ(node.outputs[0], value.tensor);
  for (size_t port = 0; port < 3; ++port) {
    const ir::TensorId input = port < node.inputs.size() ? node.inputs[port] : ir::kNoTensor;
    if (input == ir::kNoTensor) {
      EXPECT_EQ(value.operands[port], -1);
      continue;
    }
    ASSERT_GE(value.operands[port], 0);
    ASSERT_LT(value.operands[port], static_cast<int32_t>(index));
    EXPECT_EQ(expression.values[static_cast<size_t>(value.operands[port])].tensor, input);
  }
  const auto& pointwise = std::get<graph::Pointwise_attributes>(node.operation);
  if (pointwise.get_mode() == PointwiseMode_t::GEN_INDEX) {
    EXPECT_EQ(tensor.shape.dims, domain);
  }
}

void check_output(const FusionGroup& group, const Expression& expression,
                  const ExpressionOutput& output) {
  const auto& domain = group.tensor(expression.domain).shape.dims;
  ASSERT_GE(output.value, 0);
  ASSERT_LT(output.value, static_cast<int32_t>(expression.values.size()));
  const ir::TensorId value = expression.values[static_cast<size_t>(output.value)].tensor;
  EXPECT_EQ(group.tensor(value).shape.dims, domain) << "only whole values are stored or reduced";
  if (output.reduction == ir::kNoNode) {
    EXPECT_EQ(output.tensor, value);
  } else {
    EXPECT_EQ(group.node(output.reduction).inputs[0], value);
    EXPECT_EQ(group.node(output.reduction).outputs[0], output.tensor);
  }
  EXPECT_EQ(std::count(group.outputs.begin(), group.outputs.end(), output.tensor), 1);
}

void check_expression(const FusionGroup& group, const Expression& expression) {
  std::set<ir::TensorId> seen;
  for (size_t index = 0; index < expression.values.size(); ++index) {
    check_value(group, expression, index);
    EXPECT_TRUE(seen.insert(expression.values[index].tensor).second) << "a tensor is one value";
  }
  for (const ExpressionOutput& output : expression.outputs) check_output(group, expression, output);
}

}  // namespace

void check_group(const FusionGroup& group) {
  SCOPED_TRACE(group_text(group));
  EXPECT_TRUE(std::is_sorted(group.nodes.begin(), group.nodes.end()));
  std::set<ir::NodeId> inside;
  std::set<ir::TensorId> loads;
  const auto collect = [&](const Expression& expression) {
    for (const ExpressionValue& value : expression.values) {
      if (value.kind == Kind::kPointwise) inside.insert(value.node);
      if (value.kind == Kind::kLoad) loads.insert(value.tensor);
    }
    for (const ExpressionOutput& output : expression.outputs)
      if (output.reduction != ir::kNoNode) inside.insert(output.reduction);
    check_expression(group, expression);
  };
  std::set<size_t> prologue_ports;
  for (const fusion::Prologue& prologue : group.prologues) {
    ASSERT_FALSE(prologue.expression.empty());
    EXPECT_TRUE(prologue_ports.insert(prologue.port).second);
    EXPECT_TRUE(prologue.expression.outputs.empty());
    EXPECT_EQ(prologue.expression.values.back().tensor,
              group.node(group.anchor).inputs[prologue.port]);
    EXPECT_EQ(prologue.expression.domain, prologue.expression.values.back().tensor);
    collect(prologue.expression);
  }
  collect(group.epilogue);
  if (group.anchor_kind == AnchorKind::kComposedAttention) {
    ASSERT_TRUE(group.composed_attention);
    const fusion::ComposedAttention& parts = *group.composed_attention;
    EXPECT_TRUE(parts.scores.outputs.empty());
    EXPECT_EQ(parts.scores.values.front().kind, Kind::kAnchor);
    collect(parts.scores);
    inside.insert(parts.score_matmul);
    const ir::Node& scores = group.node(parts.score_matmul);
    loads.insert({scores.inputs[0], scores.inputs[1], group.node(group.anchor).inputs[1]});
    if (parts.sink != ir::kNoTensor) loads.insert(parts.sink);
    // What is left is the softmax, from what the expression gives to what the anchor reads.
    std::set<ir::NodeId> rest(group.nodes.begin(), group.nodes.end());
    for (ir::NodeId node : inside) rest.erase(node);
    rest.erase(group.anchor);
    EXPECT_EQ(rest.size(), parts.has_softmax_operation ? 1u : 5u);
    EXPECT_TRUE(rest.contains(group.tensor(group.node(group.anchor).inputs[0]).producer));
    const auto reads_scores = [&](ir::NodeId node) {
      const auto& inputs = group.node(node).inputs;
      return std::count(inputs.begin(), inputs.end(), parts.scores.values.back().tensor) > 0;
    };
    EXPECT_EQ(std::count_if(rest.begin(), rest.end(), reads_scores),
              parts.has_softmax_operation ? 1 : 2);
    inside.insert(rest.begin(), rest.end());
  }
  std::set<ir::TensorId> outputs;
  for (const ExpressionOutput& output : group.epilogue.outputs) outputs.insert(output.tensor);
  if (group.anchor_kind == AnchorKind::kNone) {
    EXPECT_EQ(group.anchor, ir::kNoNode);
  } else {
    inside.insert(group.anchor);
    const ir::Node& anchor = group.node(group.anchor);
    for (size_t port = 0; port < anchor.inputs.size(); ++port)
      if (anchor.inputs[port] != ir::kNoTensor && !prologue_ports.contains(port) &&
          !(group.composed_attention && port == 0))
        loads.insert(anchor.inputs[port]);
    for (size_t port = 0; port < anchor.outputs.size(); ++port)
      if (port > 0 || group.anchor_kind == AnchorKind::kMovement)
        if (std::count(group.outputs.begin(), group.outputs.end(), anchor.outputs[port]))
          outputs.insert(anchor.outputs[port]);
    if (group.anchor_kind == AnchorKind::kMovement) {
      EXPECT_TRUE(group.epilogue.empty());
    } else {
      ASSERT_FALSE(group.epilogue.empty());
      EXPECT_EQ(group.epilogue.values[0].kind, Kind::kAnchor);
      EXPECT_EQ(group.epilogue.values[0].tensor, anchor.outputs[0]);
      EXPECT_EQ(group.epilogue.domain, anchor.outputs[0]);
    }
  }
  EXPECT_EQ(inside, std::set(group.nodes.begin(), group.nodes.end()));
  EXPECT_EQ(loads, std::set(group.inputs.begin(), group.inputs.end()));
  EXPECT_EQ(loads.size(), group.inputs.size());
  EXPECT_EQ(outputs, std::set(group.outputs.begin(), group.outputs.end()));
  EXPECT_EQ(outputs.size(), group.outputs.size());
  EXPECT_FALSE(outputs.empty());
  for (ir::TensorId output : outputs) EXPECT_FALSE(loads.contains(output));
}

void check_order(const std::vector<FusionGroup>& groups, const std::vector<fusion::Alias>& aliases,
                 std::vector<bool> available, const std::vector<ir::TensorId>& wanted) {
  const auto is_there = [&](ir::TensorId id) { return available[static_cast<size_t>(id)]; };
  const auto settle_views = [&] {
    for (const fusion::Alias& alias : aliases)
      if (is_there(alias.source)) available[static_cast<size_t>(alias.tensor)] = true;
  };
  std::set<ir::TensorId> written;
  settle_views();
  for (const FusionGroup& group : groups) {
    for (ir::TensorId input : group.inputs)
      EXPECT_TRUE(is_there(input))
          << group.tensor(input).name << " is read before it is written by " << group_text(group);
    for (ir::TensorId output : group.outputs) {
      EXPECT_TRUE(written.insert(output).second) << group.tensor(output).name << " written twice";
      available[static_cast<size_t>(output)] = true;
    }
    settle_views();
  }
  for (ir::TensorId tensor : wanted) EXPECT_TRUE(is_there(tensor)) << "tensor " << tensor;
}

void check_partition(const std::shared_ptr<const ir::FrozenGraph>& graph,
                     const fusion::Partition& partition) {
  SCOPED_TRACE(text_of(partition));
  std::vector<bool> available;
  std::vector<ir::TensorId> outputs;
  for (size_t id = 0; id < graph->tensors.size(); ++id) {
    const ir::Tensor& tensor = graph->tensors[id];
    available.push_back(tensor.producer == ir::kNoNode);
    if (!tensor.is_virtual && tensor.producer != ir::kNoNode)
      outputs.push_back(static_cast<ir::TensorId>(id));
  }
  check_order(partition.groups, partition.aliases, available, outputs);

  std::vector<std::set<size_t>> homes(graph->nodes.size());
  for (size_t index = 0; index < partition.groups.size(); ++index) {
    check_group(partition.groups[index]);
    for (ir::NodeId node : partition.groups[index].nodes)
      homes[static_cast<size_t>(node)].insert(index);
  }
  std::set<ir::NodeId> views, dropped;
  for (const fusion::Alias& alias : partition.aliases) {
    views.insert(graph->tensor(alias.tensor).producer);
    for (const fusion::Alias& other : partition.aliases) EXPECT_NE(alias.source, other.tensor);
  }
  for (const fusion::FusionStop& stop : partition.stops) {
    EXPECT_FALSE(stop.reason.empty());
    if (stop.consumer == ir::kNoNode) dropped.insert(stop.producer);
  }
  for (size_t id = 0; id < graph->nodes.size(); ++id) {
    const auto node = static_cast<ir::NodeId>(id);
    const int places = !homes[id].empty() + views.contains(node) + dropped.contains(node);
    EXPECT_EQ(places, 1) << "node " << graph->nodes[id].name << " in groups, a view, or dropped";
  }
  // Every read across groups has a reason.
  for (size_t id = 0; id < graph->nodes.size(); ++id)
    for (ir::TensorId input : graph->nodes[id].inputs) {
      if (input == ir::kNoTensor || graph->tensor(input).producer == ir::kNoNode) continue;
      const ir::NodeId producer = graph->tensor(input).producer;
      bool is_apart = homes[id].empty() != homes[static_cast<size_t>(producer)].empty();
      for (size_t home : homes[id])
        is_apart |= !homes[static_cast<size_t>(producer)].contains(home);
      if (!is_apart || dropped.contains(static_cast<ir::NodeId>(id))) continue;
      const bool has_reason =
          std::any_of(partition.stops.begin(), partition.stops.end(), [&](const auto& stop) {
            return stop.producer == producer && stop.consumer == static_cast<ir::NodeId>(id);
          });
      EXPECT_TRUE(has_reason) << graph->node(producer).name << " and " << graph->nodes[id].name;
    }
}

}  // namespace warploom::fusion_test
