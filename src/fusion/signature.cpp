// Groups whose texts are equal can share a kernel, so the text holds all that kernels may be
// specialized for: operations with their attributes, how they are wired, the class of every tensor.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warploom/fusion_group.h>

#include "fusion/field_texts.h"
#include "fusion/tensor_class.h"
#include "ops/convolution_parts.h"
#include "ops/reflection.h"

namespace warploom::fusion {

namespace {

/// Extents inside attributes are arguments of a kernel, not part of it.
bool is_extent(std::string_view operation, std::string_view field) {
  constexpr std::pair<std::string_view, std::string_view> kExtents[] = {
      {"RESHAPE", "dim"},     {"RESHAPE", "stride"},   {"SLICE", "slices"},
      {"RNG", "dim"},         {"RNG", "stride"},       {"SLICE", "slice_strides"},
      {"SDPA", "left_bound"}, {"SDPA", "right_bound"}, {"SDPA", "max_seq_len_kv"}};
  return std::find(std::begin(kExtents), std::end(kExtents), std::pair{operation, field}) !=
         std::end(kExtents);
}

std::string operation_text(const graph::Operation& operation) {
  const std::string_view tag = ops::tag(operation);
  std::string text(tag);
  for (const auto& [field, value] : field_texts(operation))
    if (!is_extent(tag, field)) text += fmt::format(" {}={}", field, value);
  // A bound is an extent; that there is one is not, and neither is the diagonal of a causal mask.
  if (const auto* attention = std::get_if<graph::SDPA_attributes>(&operation)) {
    const auto right = attention->get_right_bound();
    text += fmt::format(" left={} right={}", attention->get_left_bound() ? "n" : "-",
                        !right        ? "-"
                        : *right == 0 ? "0"
                                      : "n");
  }
  return text;
}

/// Numbers tensors in the order in which they are met, so that ids and names do not matter.
class Writer {
 public:
  explicit Writer(const FusionGroup& group) : group_(group) {}

  std::string number(ir::TensorId id) {
    if (id == ir::kNoTensor) return "-";
    const auto [place, is_new] = numbers_.try_emplace(id, numbers_.size());
    if (is_new) order_.push_back(id);
    return fmt::format("t{}", place->second);
  }

  std::string list(const std::vector<ir::TensorId>& ids) {
    std::vector<std::string> texts;
    for (ir::TensorId id : ids) texts.push_back(number(id));
    return fmt::format("{}", fmt::join(texts, ","));
  }

  std::string expression(const Expression& expression) {
    std::string text;
    for (const ExpressionValue& value : expression.values) {
      text += ' ' + number(value.tensor) + (value.is_rounded ? "!" : "");
      if (value.kind == ExpressionValue::Kind::kLoad)
        text += pattern(value.tensor, expression.domain);
      if (value.kind == ExpressionValue::Kind::kPointwise)
        text += fmt::format("={}({})", node_number(value.node), fmt::join(value.operands, ","));
    }
    for (const ExpressionOutput& output : expression.outputs)
      text += output.reduction == ir::kNoNode
                  ? fmt::format(" store {}", number(output.tensor))
                  : fmt::format(" {}({}) {}{}", node_number(output.reduction), output.value,
                                number(output.tensor), pattern(output.tensor, expression.domain));
    return text;
  }

  std::string pattern(ir::TensorId tensor, ir::TensorId domain) const {
    return '[' + repeat_pattern(dims(tensor), dims(domain)) + ']';
  }

  std::string node_number(ir::NodeId id) const {
    for (size_t index = 0; index < group_.nodes.size(); ++index)
      if (group_.nodes[index] == id) return fmt::format("n{}", index);
    return "-";
  }

  /// What the shapes say of the anchor, beyond ranks.
  std::string anchor(const ir::Node& node) {
    std::string text;
    for (size_t port = 0; port < node.inputs.size(); ++port)
      if (node.inputs[port] != ir::kNoTensor)
        text += ' ' + anchor_pattern(*group_.graph, node, port);
    if (std::holds_alternative<graph::Reduction_attributes>(node.operation))
      text += ' ' + repeat_pattern(dims(node.outputs[0]), dims(node.inputs[0]));
    if (const auto parts = ops::find_parts(node.operation)) {
      const int64_t filter_channels = dims(parts->w.of(node.inputs, node.outputs))[1];
      const int64_t channels = dims(parts->x.of(node.inputs, node.outputs))[1];
      text += channels == filter_channels ? " dense"
              : filter_channels == 1      ? " depthwise"
                                          : " grouped";
    }
    return text;
  }

  std::string tensors() const {
    std::string text;
    for (ir::TensorId id : order_)
      text += fmt::format("t{}: {}\n", numbers_.at(id), tensor_class(*group_.graph, id));
    return text;
  }

 private:
  const std::vector<int64_t>& dims(ir::TensorId id) const { return group_.tensor(id).shape.dims; }

  const FusionGroup& group_;
  std::map<ir::TensorId, size_t> numbers_;
  std::vector<ir::TensorId> order_;
};

}  // namespace

std::string signature(const FusionGroup& group) {
  Writer writer(group);
  std::string text;
  for (ir::NodeId id : group.nodes) {
    const ir::Node& node = group.node(id);
    text += fmt::format("{} {}: {} -> {}\n", operation_text(node.operation),
                        to_string(node.compute_data_type), writer.list(node.inputs),
                        writer.list(node.outputs));
    if (id == group.anchor) text += fmt::format("anchor{}\n", writer.anchor(node));
  }
  for (const Prologue& prologue : group.prologues)
    text += fmt::format("prologue {}:{}\n", prologue.port, writer.expression(prologue.expression));
  if (!group.epilogue.empty())
    text += fmt::format("epilogue:{}\n", writer.expression(group.epilogue));
  text += fmt::format("in {} out {}\n", writer.list(group.inputs), writer.list(group.outputs));
  return text + writer.tensors();
}

}  // namespace warploom::fusion
