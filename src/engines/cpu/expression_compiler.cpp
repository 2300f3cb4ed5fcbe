#include "engines/cpu/expression_compiler.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "ops/arithmetic.h"

namespace warploom::cpu {
namespace {

using fusion::Expression;
using fusion::ExpressionOutput;
using fusion::ExpressionValue;
using fusion::FusionGroup;

bool is_wide_integer(DataType_t type) {
  return type == DataType_t::INT32 || type == DataType_t::INT64;
}

ops::Arithmetic arithmetic(const FusionGroup& group, ir::NodeId node) {
  return ops::arithmetic_of(*group.graph, group.node(node));
}

/// The nodes whose operations the expression's program runs.
std::vector<ir::NodeId> program_nodes(const Expression& expression) {
  std::vector<ir::NodeId> nodes;
  for (const ExpressionValue& value : expression.values)
    if (value.kind == ExpressionValue::Kind::kPointwise) nodes.push_back(value.node);
  for (const ExpressionOutput& output : expression.outputs)
    if (output.reduction != ir::kNoNode) nodes.push_back(output.reduction);
  return nodes;
}

/// Exact in double on integers of up to 32 bits, before the result is rounded to such a type.
bool is_exact_in_double(const graph::Operation& operation) {
  if (auto* reduction = std::get_if<graph::Reduction_attributes>(&operation)) {
    switch (reduction->get_mode()) {
      case ReductionMode_t::ADD:
      case ReductionMode_t::MIN:
      case ReductionMode_t::MAX:
      case ReductionMode_t::AMAX:
      case ReductionMode_t::NORM1:
        return true;
      default:
        return false;
    }
  }
  auto* pointwise = std::get_if<graph::Pointwise_attributes>(&operation);
  if (!pointwise) return false;
  switch (pointwise->get_mode()) {
    case PointwiseMode_t::ADD:
    case PointwiseMode_t::SUB:
    case PointwiseMode_t::MIN:
    case PointwiseMode_t::MAX:
    case PointwiseMode_t::NEG:
    case PointwiseMode_t::ABS:
    case PointwiseMode_t::IDENTITY:
    case PointwiseMode_t::GEN_INDEX:
    case PointwiseMode_t::BINARY_SELECT:
    case PointwiseMode_t::CMP_EQ:
    case PointwiseMode_t::CMP_NEQ:
    case PointwiseMode_t::CMP_GT:
    case PointwiseMode_t::CMP_GE:
    case PointwiseMode_t::CMP_LT:
    case PointwiseMode_t::CMP_LE:
    case PointwiseMode_t::LOGICAL_AND:
    case PointwiseMode_t::LOGICAL_OR:
    case PointwiseMode_t::LOGICAL_NOT:
      return true;
    default:
      return false;
  }
}

TilePointwise tile_pointwise(const graph::Pointwise_attributes& attributes) {
  TilePointwise pointwise;
  pointwise.mode = attributes.get_mode();
  pointwise.relu_lower_clip = attributes.get_relu_lower_clip();
  if (auto upper = attributes.get_relu_upper_clip()) pointwise.relu_upper_clip = *upper;
  pointwise.relu_lower_clip_slope = attributes.get_relu_lower_clip_slope();
  pointwise.swish_beta = attributes.get_swish_beta();
  pointwise.elu_alpha = attributes.get_elu_alpha();
  pointwise.softplus_beta = attributes.get_softplus_beta();
  return pointwise;
}

class Compiler {
 public:
  Compiler(const FusionGroup& group, const Expression& expression, const CompileOptions& options)
      : group_(group),
        expression_(expression),
        options_(options),
        builder_(choose_compute(group, expression, options.reduction)) {}

  CompiledExpression compile() {
    for (const ExpressionValue& value : expression_.values) append(value);
    TileValue last = values_.empty() ? TileValue{} : values_.back();
    if (options_.tile_store)
      builder_.store(operand({.kind = ProgramOperand::Kind::kTile, .type = *options_.tile_store}),
                     *options_.tile_store, last);
    if (options_.reduction != ir::kNoNode)
      reduce(options_.reduction, group_.node(options_.reduction).outputs[0], last);
    for (const ExpressionOutput& output : expression_.outputs)
      if (output.reduction != ir::kNoNode)
        reduce(output.reduction, output.tensor, values_[static_cast<size_t>(output.value)]);
    result_.program = builder_.build(options_.shape);
    result_.domain = expression_.domain;
    return std::move(result_);
  }

 private:
  int operand(ProgramOperand description) {
    result_.operands.push_back(description);
    return static_cast<int>(result_.operands.size()) - 1;
  }

  void append(const ExpressionValue& value) {
    TileValue result;
    switch (value.kind) {
      case ExpressionValue::Kind::kAnchor:
        result = anchor();
        break;
      case ExpressionValue::Kind::kLoad:
        result = load(value.tensor);
        break;
      case ExpressionValue::Kind::kPointwise:
        result = pointwise(value);
        break;
    }
    const auto index = static_cast<int32_t>(values_.size());
    bool is_stored = false;
    for (const ExpressionOutput& output : expression_.outputs) {
      if (output.value != index || output.reduction != ir::kNoNode) continue;
      const ir::Tensor& tensor = group_.tensor(output.tensor);
      int number = operand({.kind = ProgramOperand::Kind::kStore,
                            .tensor = output.tensor,
                            .type = tensor.data_type,
                            .pointer = pointer_index(group_, output.tensor)});
      result = builder_.store(number, tensor.data_type, result);
      is_stored = true;
    }
    if (value.is_rounded && !is_stored && value.tensor != ir::kNoTensor)
      result = builder_.round(result, group_.tensor(value.tensor).data_type);
    values_.push_back(result);
  }

  TileValue anchor() {
    if (!options_.anchor_type) return builder_.anchor();
    DataType_t type = *options_.anchor_type;
    return builder_.load(operand({.kind = ProgramOperand::Kind::kTile, .type = type}), type);
  }

  TileValue load(ir::TensorId id) {
    const ir::Tensor& tensor = group_.tensor(id);
    int pointer = pointer_index(group_, id);
    if (pointer < 0 && tensor.value) return constant(*tensor.value);
    int number = operand({.kind = ProgramOperand::Kind::kLoad,
                          .tensor = id,
                          .type = tensor.data_type,
                          .pointer = pointer});
    return builder_.load(number, tensor.data_type);
  }

  TileValue constant(const pass_by_values_t& value) {
    const int64_t* wide = std::get_if<int64_t>(&value);
    constexpr int64_t kExactInDouble = int64_t{1} << 53;
    if (!wide || (*wide <= kExactInDouble && *wide >= -kExactInDouble))
      return builder_.constant(std::visit([](auto v) { return static_cast<double>(v); }, value));
    // In two halves, each exact in the double that an instruction holds.
    TileValue high = builder_.constant(static_cast<double>(*wide >> 32));
    TileValue unit = builder_.constant(4294967296.0);
    TileValue low = builder_.constant(static_cast<double>(*wide & 0xffffffff));
    high = builder_.pointwise({.mode = PointwiseMode_t::MUL}, high, unit);
    return builder_.pointwise({.mode = PointwiseMode_t::ADD}, high, low);
  }

  TileValue pointwise(const ExpressionValue& value) {
    const auto& attributes =
        std::get<graph::Pointwise_attributes>(group_.node(value.node).operation);
    if (attributes.get_mode() == PointwiseMode_t::GEN_INDEX) {
      const auto domain_rank = group_.tensor(expression_.domain).shape.rank();
      const auto rank = group_.tensor(value.tensor).shape.rank();
      int axis = static_cast<int>(attributes.get_axis().value_or(0));
      if (axis < 0) axis += rank;
      result_.has_index = true;
      return builder_.index(operand({.kind = ProgramOperand::Kind::kIndex,
                                     .tensor = value.tensor,
                                     .axis = axis + domain_rank - rank}));
    }
    TileValue operands[3];
    for (int i = 0; i < 3; ++i)
      if (value.operands[i] >= 0) operands[i] = values_[static_cast<size_t>(value.operands[i])];
    return builder_.pointwise(tile_pointwise(attributes), operands[0], operands[1], operands[2]);
  }

  void reduce(ir::NodeId node, ir::TensorId tensor, TileValue value) {
    const auto& attributes = std::get<graph::Reduction_attributes>(group_.node(node).operation);
    int number = operand({.kind = ProgramOperand::Kind::kReduction,
                          .tensor = tensor,
                          .type = group_.tensor(tensor).data_type,
                          .pointer = pointer_index(group_, tensor),
                          .reduction = node});
    builder_.reduce(number, attributes.get_mode(), value);
  }

  const FusionGroup& group_;
  const Expression& expression_;
  const CompileOptions& options_;
  TileProgramBuilder builder_;
  std::vector<TileValue> values_;
  CompiledExpression result_;
};

}  // namespace

TileCompute choose_compute(const FusionGroup& group, const Expression& expression,
                           ir::NodeId reduction) {
  bool any_double = false, any_wide = false, all_integer = true;
  auto see_type = [&](DataType_t type) {
    any_wide |= is_wide_integer(type);
    any_double |= type == DataType_t::DOUBLE;
  };
  auto see_node = [&](ir::NodeId id) {
    const ops::Arithmetic kind = arithmetic(group, id);
    any_double |= kind == ops::Arithmetic::kDouble;
    all_integer &= kind == ops::Arithmetic::kInteger;
  };
  for (const ExpressionValue& value : expression.values) {
    if (value.tensor != ir::kNoTensor) see_type(group.tensor(value.tensor).data_type);
    if (value.kind == ExpressionValue::Kind::kAnchor) see_node(group.anchor);
  }
  for (const ExpressionOutput& output : expression.outputs)
    if (output.reduction == ir::kNoNode) see_type(group.tensor(output.tensor).data_type);
  for (ir::NodeId node : program_nodes(expression)) see_node(node);
  if (reduction != ir::kNoNode) see_node(reduction);
  if (all_integer) return TileCompute::kInt64;
  return any_double || any_wide ? TileCompute::kDouble : TileCompute::kFloat;
}

ir::NodeId find_misplaced_integer_node(const FusionGroup& group, const Expression& expression,
                                       ir::NodeId reduction) {
  if (choose_compute(group, expression, reduction) == TileCompute::kInt64) return ir::kNoNode;
  std::vector<ir::NodeId> nodes = program_nodes(expression);
  if (reduction != ir::kNoNode) nodes.push_back(reduction);
  for (ir::NodeId id : nodes) {
    if (arithmetic(group, id) != ops::Arithmetic::kInteger) continue;
    const ir::Node& node = group.node(id);
    bool is_narrow = true;
    for (const auto* tensors : {&node.inputs, &node.outputs})
      for (ir::TensorId tensor : *tensors)
        is_narrow &= tensor == ir::kNoTensor || group.tensor(tensor).data_type != DataType_t::INT64;
    if (!is_narrow || !is_exact_in_double(node.operation)) return id;
  }
  return ir::kNoNode;
}

CompiledExpression compile_expression(const FusionGroup& group, const Expression& expression,
                                      const CompileOptions& options) {
  return Compiler(group, expression, options).compile();
}

Expression load_expression(ir::TensorId tensor) {
  Expression expression;
  expression.domain = tensor;
  expression.values.push_back({.kind = ExpressionValue::Kind::kLoad, .tensor = tensor});
  return expression;
}

DataType_t compute_type(TileCompute compute) {
  switch (compute) {
    case TileCompute::kFloat:
      return DataType_t::FLOAT;
    case TileCompute::kDouble:
      return DataType_t::DOUBLE;
    case TileCompute::kInt64:
      return DataType_t::INT64;
  }
  return DataType_t::NOT_SET;
}

int pointer_index(const FusionGroup& group, ir::TensorId tensor) {
  auto input = std::find(group.inputs.begin(), group.inputs.end(), tensor);
  if (input != group.inputs.end()) return static_cast<int>(input - group.inputs.begin());
  auto output = std::find(group.outputs.begin(), group.outputs.end(), tensor);
  if (output == group.outputs.end()) return -1;
  return static_cast<int>(group.inputs.size() + (output - group.outputs.begin()));
}

}  // namespace warploom::cpu
