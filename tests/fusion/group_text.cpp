#include "fusion/group_text.h"

namespace warploom::fusion_test {

namespace {

std::string node_names(const fusion::FusionGroup& group, const fusion::Expression& expression) {
  std::string text;
  for (const fusion::ExpressionValue& value : expression.values)
    if (value.kind == fusion::ExpressionValue::Kind::kPointwise)
      text += (text.empty() ? "" : " ") + group.node(value.node).name;
  return text;
}

}  // namespace

std::string group_text(const fusion::FusionGroup& group) {
  std::string text;
  for (const fusion::Prologue& prologue : group.prologues)
    text +=
        '[' + node_names(group, prologue.expression) + '>' + std::to_string(prologue.port) + "] ";
  if (group.anchor != ir::kNoNode) text += group.node(group.anchor).name;
  if (const std::string names = node_names(group, group.epilogue); !names.empty())
    text += ": " + names;
  for (const fusion::ExpressionOutput& output : group.epilogue.outputs)
    if (output.reduction != ir::kNoNode) text += " | " + group.node(output.reduction).name;
  text += " ->";
  for (ir::TensorId output : group.outputs) text += ' ' + group.tensor(output).name;
  return text;
}

std::string text_of(const fusion::Partition& partition) {
  std::string text;
  for (const fusion::FusionGroup& group : partition.groups) text += group_text(group) + '\n';
  for (const fusion::Alias& alias : partition.aliases) {
    const ir::FrozenGraph& graph = *partition.groups.front().graph;
    text += graph.tensor(alias.tensor).name + " = " + graph.tensor(alias.source).name + '\n';
  }
  return text;
}

}  // namespace warploom::fusion_test
