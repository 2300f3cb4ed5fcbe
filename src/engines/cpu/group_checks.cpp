#include "engines/cpu/group_checks.h"

#include "base/data_type.h"
#include "engines/cpu/cpu_engine.h"
#include "engines/cpu/expression_compiler.h"
#include "ops/reflection.h"

namespace warploom::cpu {
namespace {

engine::Verdict check_tensor(const fusion::FusionGroup& group, ir::TensorId id) {
  const ir::Tensor& tensor = group.tensor(id);
  if (!base::is_supported(tensor.data_type) && group.anchor_kind != fusion::AnchorKind::kMovement)
    return refuse("elements are of a type that the CPU computes with", ir::kNoNode, id,
                  std::string(to_string(tensor.data_type)),
                  "FLOAT, DOUBLE, HALF, BFLOAT16, INT8, UINT8, INT32, INT64, BOOLEAN, FP8_E4M3, "
                  "FP8_E5M2, FP8_E8M0");
  if (detail::get_data_type_size(tensor.data_type) == 0)
    return refuse("elements are whole bytes", ir::kNoNode, id,
                  std::string(to_string(tensor.data_type)), "a type of 8 bits or more");
  if (tensor.reordering != TensorReordering_t::NONE)
    return refuse("tensors are laid out by strides", ir::kNoNode, id,
                  std::string(to_string(tensor.reordering)), "NONE");
  if (tensor.ragged_offset != ir::kNoTensor)
    return refuse("tensors are laid out by strides", ir::kNoNode, id, "a ragged offset", "none");
  if (tensor.shape.rank() > ir::kMaxRank)
    return refuse("at most 8 dimensions", ir::kNoNode, id, std::to_string(tensor.shape.rank()),
                  "8");
  return engine::Verdict::yes();
}

engine::Verdict check_expression(const fusion::FusionGroup& group,
                                 const fusion::Expression& expression,
                                 ir::NodeId reduction = ir::kNoNode) {
  if (expression.empty()) return engine::Verdict::yes();
  if (ir::NodeId node = find_misplaced_integer_node(group, expression, reduction);
      node != ir::kNoNode)
    return refuse("a kernel computes with integers throughout or not at all", node, ir::kNoTensor,
                  "integers among floating-point operations", "a kernel of its own");
  const std::vector<int64_t>& domain = group.tensor(expression.domain).shape.dims;
  for (const fusion::ExpressionValue& value : expression.values)
    if (value.kind == fusion::ExpressionValue::Kind::kAnchor &&
        group.tensor(value.tensor).shape.dims != domain)
      return refuse("the epilogue has the dims of the anchor's result", group.anchor, value.tensor,
                    dims_text(group.tensor(value.tensor).shape.dims), dims_text(domain));
  for (const fusion::ExpressionOutput& output : expression.outputs) {
    if (output.reduction != ir::kNoNode) {
      const ir::TensorId reduced = group.node(output.reduction).inputs[0];
      if (group.tensor(reduced).shape.dims == domain) continue;
      return refuse("a fused reduction reads all elements of the expression", output.reduction,
                    reduced, dims_text(group.tensor(reduced).shape.dims), dims_text(domain));
    }
    const std::vector<int64_t>& dims = group.tensor(output.tensor).shape.dims;
    // Leading dims of 1 may be missing.
    size_t shift = domain.size() - dims.size();
    bool covers = dims.size() <= domain.size();
    for (size_t axis = 0; covers && axis < domain.size(); ++axis)
      covers = domain[axis] == (axis < shift ? 1 : dims[axis - shift]);
    if (!covers)
      return refuse("a stored tensor has all elements of the fused expression",
                    group.tensor(output.tensor).producer, output.tensor, dims_text(dims),
                    dims_text(domain));
  }
  return engine::Verdict::yes();
}

}  // namespace

engine::Verdict check_group(const fusion::FusionGroup& group) {
  for (const auto* tensors : {&group.inputs, &group.outputs})
    for (ir::TensorId id : *tensors)
      if (auto verdict = check_tensor(group, id); !verdict.is_supported) return verdict;
  for (const fusion::Prologue& prologue : group.prologues)
    if (auto verdict = check_expression(
            group, prologue.expression,
            group.anchor_kind == fusion::AnchorKind::kReduction ? group.anchor : ir::kNoNode);
        !verdict.is_supported)
      return verdict;
  if (group.composed_attention)
    if (auto verdict = check_expression(group, group.composed_attention->scores);
        !verdict.is_supported)
      return verdict;
  return check_expression(group, group.epilogue);
}

engine::Verdict check_anchor(const fusion::FusionGroup& group, fusion::AnchorKind kind,
                             std::string_view rule) {
  if (group.anchor_kind == kind) return engine::Verdict::yes();
  return refuse(rule, group.anchor, ir::kNoTensor, anchor_tag(group), std::string(rule));
}

std::string anchor_tag(const fusion::FusionGroup& group) {
  if (group.anchor == ir::kNoNode) return "pointwise operations only";
  return std::string(ops::tag(group.node(group.anchor).operation));
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

}  // namespace warploom::cpu
