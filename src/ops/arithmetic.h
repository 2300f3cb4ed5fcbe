#pragma once
#include <span>

#include <warploom/frozen_graph.h>

namespace warploom::ops {

/// The numbers that an operation computes with.
enum class Arithmetic {
  kFloat,    ///< float or wider
  kDouble,   ///< the compute type is DOUBLE
  kInteger,  ///< 64-bit integers: the compute type is an integer or BOOLEAN, and so are all
             ///< operands
};

/// `operands`: the data types of the values that are computed with.
Arithmetic arithmetic_of(DataType_t compute_type, std::span<const DataType_t> operands);

/// Of a node. What only gives shapes (GEN_INDEX's input) or sizes (overrides, sequence lengths) is
/// no operand.
Arithmetic arithmetic_of(const ir::FrozenGraph& graph, const ir::Node& node);

}  // namespace warploom::ops
