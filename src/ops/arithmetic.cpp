#include "ops/arithmetic.h"

#include <algorithm>

#include "base/data_type.h"

namespace warploom::ops {
namespace {

bool is_operand(const graph::Operation& operation, size_t port) {
  if (std::holds_alternative<graph::Matmul_attributes>(operation))
    return port <= graph::Matmul_attributes::B;
  const auto* pointwise = std::get_if<graph::Pointwise_attributes>(&operation);
  return pointwise == nullptr || pointwise->get_mode() != PointwiseMode_t::GEN_INDEX;
}

}  // namespace

Arithmetic arithmetic_of(DataType_t compute_type, std::span<const DataType_t> operands) {
  if (compute_type == DataType_t::DOUBLE) return Arithmetic::kDouble;
  const bool is_integer =
      base::is_integer(compute_type) && std::ranges::all_of(operands, base::is_integer);
  return is_integer ? Arithmetic::kInteger : Arithmetic::kFloat;
}

Arithmetic arithmetic_of(const ir::FrozenGraph& graph, const ir::Node& node) {
  std::vector<DataType_t> operands;
  for (size_t port = 0; port < node.inputs.size(); ++port)
    if (node.inputs[port] != ir::kNoTensor && is_operand(node.operation, port))
      operands.push_back(graph.tensor(node.inputs[port]).data_type);
  return arithmetic_of(node.compute_data_type, operands);
}

}  // namespace warploom::ops
