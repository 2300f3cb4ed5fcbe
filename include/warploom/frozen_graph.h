#pragma once
/// The graph as engines see it: immutable, with tensors and nodes in tables and ids in place of
/// pointers.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warploom/ops/operation.h>

namespace warploom::ir {

using TensorId = int32_t;
using NodeId = int32_t;
inline constexpr TensorId kNoTensor = -1;
inline constexpr NodeId kNoNode = -1;
inline constexpr int kMaxRank = 8;

struct Shape {
  std::vector<int64_t> dims, strides;
  int rank() const { return static_cast<int>(dims.size()); }
  int64_t volume() const {
    int64_t product = 1;
    for (int64_t dim : dims) product *= dim;
    return product;
  }
  bool operator==(const Shape&) const = default;
};

struct Tensor {
  int64_t uid = 0;
  std::string name;
  /// That in which a virtual tensor is carried, which is not always `declared_type`.
  DataType_t data_type = DataType_t::NOT_SET;
  DataType_t declared_type = DataType_t::NOT_SET;
  Shape shape;
  bool is_virtual = false;
  /// Memory is on the host and read during the call: a stored scalar, a constant, or a host pointer
  /// of the variant pack.
  bool is_pass_by_value = false;
  std::optional<pass_by_values_t> value;  ///< stored scalar or compile-time constant
  bool is_compile_time_constant = false;
  int64_t alignment = 16;
  TensorReordering_t reordering = TensorReordering_t::NONE;
  TensorId ragged_offset = kNoTensor;
  NodeId producer = kNoNode;      ///< kNoNode for graph inputs
  std::vector<NodeId> consumers;  ///< in node order, each once
};

struct Node {
  std::string name;
  DataType_t compute_data_type = DataType_t::NOT_SET;
  /// Fields only; its `inputs` and `outputs` pointers are cleared: use the ids below.
  graph::Operation operation;
  /// By port; kNoTensor where an optional port is not used.
  std::vector<TensorId> inputs, outputs;
};

/// Nodes are in topological order; every tensor has its uid, data type, dims and strides.
struct FrozenGraph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  /// Plans serve other shapes too: they may rely on strides that the user gives for nothing.
  bool has_variable_shapes = false;

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes[static_cast<size_t>(id)]; }
};

/// Shapes in use at one execution, by TensorId: the graph's own, or others that a caller overrides.
using ShapeTable = std::span<const Shape>;

}  // namespace warploom::ir
