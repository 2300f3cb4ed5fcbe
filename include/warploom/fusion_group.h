#pragma once
/// A fusion group: nodes that one kernel runs. An anchor (at most one operation that is more than
/// pointwise), chains of pointwise operations on its inputs, and an expression graph on its result.
#include <memory>
#include <optional>
#include <string>

#include <warploom/frozen_graph.h>

namespace warploom::fusion {

enum class AnchorKind {
  kNone,         ///< pointwise work only, perhaps with reductions of its results
  kContraction,  ///< matmul or convolution
  kAttention,
  kComposedAttention,  ///< attention written as single operations; see ComposedAttention
  kReduction,
  kNorm,      ///< normalizations and their gradients, softmax: rows with statistics of their own
  kMovement,  ///< reshape, transpose, slice, concatenate
  kOther,     ///< pooling, random numbers, block scaling, attention's gradient and on 8-bit floats
};

/// One value of an expression graph.
struct ExpressionValue {
  enum class Kind {
    kAnchor,     ///< the anchor's result, in its accumulator's precision
    kLoad,       ///< `tensor` read from memory, broadcast to the domain
    kPointwise,  ///< the Pointwise operation of `node` applied to `operands`
  };
  Kind kind;
  /// The graph tensor that this value is. Its data type says how the value is rounded where
  /// rounding is due.
  ir::TensorId tensor = ir::kNoTensor;
  /// kPointwise: mode and parameters are
  /// std::get<Pointwise_attributes>(graph.node(node).operation).
  ir::NodeId node = ir::kNoNode;
  /// kPointwise: indices of earlier values, -1 where the mode has fewer operands.
  std::int32_t operands[3] = {-1, -1, -1};
  /// Rounded to the tensor's data type before anyone reads it: stored tensors, and virtual
  /// integers, booleans, 8-bit floats.
  bool is_rounded = false;
};

/// What an expression graph leaves behind: a stored tensor, or a tensor reduced over the domain.
struct ExpressionOutput {
  std::int32_t value = -1;
  ir::TensorId tensor = ir::kNoTensor;
  /// kNoNode: `value` is stored in `tensor`. Otherwise the Reduction node that reduces `value` into
  /// `tensor`, over the axes where the tensor's dim is 1 and the domain's is not.
  ir::NodeId reduction = ir::kNoNode;
};

/// Straight-line code over a domain: values in topological order, evaluated at each point of the
/// domain's dims. A kLoad or stored tensor has the domain's rank or a lower one, aligned right; a
/// dim of 1 is broadcast.
struct Expression {
  /// The tensor whose dims are the domain (at run time: its entry in the ShapeTable).
  ir::TensorId domain = ir::kNoTensor;
  std::vector<ExpressionValue> values;
  std::vector<ExpressionOutput> outputs;
  bool empty() const { return values.empty(); }
};

/// A pointwise chain that is applied to an anchor's input while it is read. Its last value is what
/// the anchor reads.
struct Prologue {
  std::size_t port = 0;  ///< the anchor's input port
  Expression expression;
};

/// softmax(f(Q K^T)) V: two matmuls with a softmax between them, of which the second matmul is the
/// group's anchor. Batch dims are those of the matmuls: a head of K or V may serve several of Q.
struct ComposedAttention {
  ir::NodeId score_matmul = ir::kNoNode;  ///< its A is Q, its B is K with the last two dims swapped
  /// f, over the result of that matmul, its value 0 (kAnchor). No outputs: the last value is what
  /// the softmax reads.
  Expression scores;
  /// Whether the softmax is an operation, with whose rule a row of nothing but -inf gives 0;
  /// written out, it gives NaN.
  bool has_softmax_operation = true;
  ir::TensorId sink = ir::kNoTensor;  ///< of the softmax
  /// Results of the softmax that are stored; kNoTensor where they are not.
  ir::TensorId stats = ir::kNoTensor, maximum = ir::kNoTensor, sum_exp = ir::kNoTensor;
};

struct FusionGroup {
  std::shared_ptr<const ir::FrozenGraph> graph;
  std::vector<ir::NodeId> nodes;  ///< in topological order
  AnchorKind anchor_kind = AnchorKind::kNone;
  ir::NodeId anchor = ir::kNoNode;
  std::vector<Prologue> prologues;
  std::optional<ComposedAttention> composed_attention;  ///< of kComposedAttention
  /// Over the anchor's result (for kNone: over the largest tensor). Its values begin with kAnchor
  /// where there is an anchor. The anchor's result itself is stored if the expression's outputs say
  /// so. Empty for kMovement.
  Expression epilogue;
  std::vector<ir::TensorId>
      inputs;  ///< read from memory, each once; kernels get their pointers in this order ...
  std::vector<ir::TensorId>
      outputs;  ///< ... followed by these, written to memory. Attention's Stats, Max and
                ///< Sum_exp are here, though not in the epilogue.

  const ir::Tensor& tensor(ir::TensorId id) const { return graph->tensor(id); }
  const ir::Node& node(ir::NodeId id) const { return graph->node(id); }
  /// The anchor's attributes, e.g. anchor_as<graph::Matmul_attributes>(); null when it is another
  /// operation.
  template <class Attributes>
  const Attributes* anchor_as() const {
    return anchor == ir::kNoNode ? nullptr
                                 : std::get_if<Attributes>(&graph->node(anchor).operation);
  }
};

/// Canonical text of a group: operations, attributes, data types, ranks, stride order and alignment
/// class, without extents. Groups with equal signatures can share a kernel.
WARPLOOM_EXPORT std::string signature(const FusionGroup& group);

}  // namespace warploom::fusion
