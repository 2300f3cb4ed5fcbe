#include "api/group_code.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fusion/field_texts.h"
#include "ops/reflection.h"

namespace warploom {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::tolower(letter));
  return result;
}

/// ", name=value" for every field that is not as a new operation of this kind has it.
std::string set_fields(const graph::Operation& operation) {
  const auto fields = fusion::field_texts(operation);
  const auto defaults = fusion::field_texts(*ops::make_operation(ops::tag(operation)));
  std::string text;
  for (size_t index = 0; index < fields.size(); ++index)
    if (fields[index] != defaults[index] && fields[index].first != "mode")
      text += fmt::format(", {}={}", fields[index].first, fields[index].second);
  return text;
}

std::string pointwise_code(const ir::FrozenGraph& graph, const ir::Node& node) {
  const auto& pointwise = std::get<graph::Pointwise_attributes>(node.operation);
  std::vector<std::string> operands;
  for (ir::TensorId input : node.inputs)
    if (input != ir::kNoTensor) operands.push_back(variable(graph, input));
  constexpr std::pair<PointwiseMode_t, const char*> kInfix[] = {
      {PointwiseMode_t::ADD, "+"},     {PointwiseMode_t::SUB, "-"},
      {PointwiseMode_t::MUL, "*"},     {PointwiseMode_t::DIV, "/"},
      {PointwiseMode_t::CMP_EQ, "=="}, {PointwiseMode_t::CMP_NEQ, "!="},
      {PointwiseMode_t::CMP_GT, ">"},  {PointwiseMode_t::CMP_GE, ">="},
      {PointwiseMode_t::CMP_LT, "<"},  {PointwiseMode_t::CMP_LE, "<="}};
  for (const auto& [mode, sign] : kInfix)
    if (mode == pointwise.get_mode() && operands.size() == 2)
      return fmt::format("{} {} {}", operands[0], sign, operands[1]);
  std::string name = lower(to_string(pointwise.get_mode()));
  if (name.ends_with("_fwd")) name.resize(name.size() - 4);
  return fmt::format("{}({}{})", name, fmt::join(operands, ", "), set_fields(node.operation));
}

/// "over dims 0, 2" of a reduction.
std::string reduced_dims(const ir::FrozenGraph& graph, const ir::Node& node) {
  const auto& from = graph.tensor(node.inputs[0]).shape.dims;
  const auto& to = graph.tensor(node.outputs[0]).shape.dims;
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < std::min(from.size(), to.size()); ++axis)
    if (from[axis] != to[axis]) axes.push_back(axis);
  return axes.empty()
             ? "over no dim"
             : fmt::format("over dim{} {}", axes.size() > 1 ? "s" : "", fmt::join(axes, ", "));
}

std::string node_code(const ir::FrozenGraph& graph, const ir::Node& node) {
  if (std::holds_alternative<graph::Pointwise_attributes>(node.operation))
    return pointwise_code(graph, node);
  if (const auto* reduction = std::get_if<graph::Reduction_attributes>(&node.operation))
    return fmt::format("{}({}) {}", lower(to_string(reduction->get_mode())),
                       variable(graph, node.inputs[0]), reduced_dims(graph, node));
  const auto ports = ops::input_ports(node.operation);
  std::vector<std::string> operands;
  for (size_t port = 0; port < node.inputs.size(); ++port)
    if (node.inputs[port] != ir::kNoTensor)
      operands.push_back((ports[port].is_optional ? lower(ports[port].name) + '=' : "") +
                         variable(graph, node.inputs[port]));
  return fmt::format("{}({}{})", lower(ops::tag(node.operation)), fmt::join(operands, ", "),
                     set_fields(node.operation));
}

std::string results(const ir::FrozenGraph& graph, const ir::Node& node) {
  std::vector<std::string> names;
  for (ir::TensorId output : node.outputs)
    if (output != ir::kNoTensor) names.push_back(variable(graph, output));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_written(const fusion::FusionGroup& group, ir::TensorId tensor) {
  return std::find(group.outputs.begin(), group.outputs.end(), tensor) != group.outputs.end();
}

class Writer {
 public:
  explicit Writer(const fusion::FusionGroup& group) : group_(group) {}

  void add(ir::NodeId id, std::string remark) {
    const ir::Node& node = group_.node(id);
    lines_.push_back(
        {results(*group_.graph, node) + " = " + node_code(*group_.graph, node), std::move(remark)});
  }

  void add_expression(const fusion::Expression& expression, const std::string& remark) {
    using Kind = fusion::ExpressionValue::Kind;
    for (const fusion::ExpressionValue& value : expression.values)
      if (value.kind == Kind::kPointwise) add(value.node, remark_of(value, remark));
  }

  std::string remark_of(const fusion::ExpressionValue& value, const std::string& otherwise) const {
    const ir::Tensor& tensor = group_.tensor(value.tensor);
    if (is_written(group_, value.tensor))
      return fmt::format("stored as {}", to_string(tensor.data_type));
    if (value.is_rounded) return fmt::format("rounded to {}", to_string(tensor.data_type));
    return otherwise;
  }

  std::vector<CodeLine> lines_;

 private:
  const fusion::FusionGroup& group_;
};

}  // namespace

std::string variable(const ir::FrozenGraph& graph, ir::TensorId tensor) {
  return fmt::format("t{}", graph.tensor(tensor).uid);
}

std::vector<CodeLine> code_of(const fusion::FusionGroup& group) {
  Writer writer(group);
  for (const fusion::Prologue& prologue : group.prologues) {
    const auto ports = ops::input_ports(group.node(group.anchor).operation);
    writer.add_expression(prologue.expression,
                          fmt::format("prologue of {}", ports[prologue.port].name));
  }
  if (group.anchor != ir::kNoNode) {
    const bool has_epilogue = !group.epilogue.empty();
    writer.add(group.anchor, has_epilogue ? writer.remark_of(group.epilogue.values[0], "anchor")
                                          : "moves elements");
  }
  writer.add_expression(group.epilogue, "");
  for (const fusion::ExpressionOutput& output : group.epilogue.outputs)
    if (output.reduction != ir::kNoNode)
      writer.add(output.reduction,
                 fmt::format("stored as {}", to_string(group.tensor(output.tensor).data_type)));
  return std::move(writer.lines_);
}

}  // namespace warploom
