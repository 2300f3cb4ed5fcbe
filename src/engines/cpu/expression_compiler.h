#pragma once

#include <optional>
#include <vector>

#include <warploom/fusion_group.h>

#include "engines/cpu/kernels/tile_program.h"

namespace warploom::cpu {

/// What an operand of a compiled program is; operand i of the program is operands[i].
struct ProgramOperand {
  enum class Kind {
    kLoad,
    kStore,
    kIndex,      ///< the coordinate along `axis` of the domain
    kReduction,  ///< accumulators of the Reduction node `reduction`, whose result is `tensor`
    kTile,       ///< memory that the caller of the program gives with every tile
  };
  Kind kind = Kind::kLoad;
  ir::TensorId tensor = ir::kNoTensor;
  DataType_t type = DataType_t::NOT_SET;
  int pointer = -1;  ///< of a kernel's pointers (the group's inputs, then its outputs)
  int axis = -1;
  ir::NodeId reduction = ir::kNoNode;
};

struct CompiledExpression {
  TileProgram program;
  std::vector<ProgramOperand> operands;
  ir::TensorId domain = ir::kNoTensor;
  bool has_index = false;
};

/// What surrounds the expression.
struct CompileOptions {
  TileShape shape = {};
  /// The anchor is read from the tile operand, as this type; without it the caller fills the
  /// program's anchor slot.
  std::optional<DataType_t> anchor_type = std::nullopt;
  /// The last value is written to the tile operand, as this type: a prologue.
  std::optional<DataType_t> tile_store = std::nullopt;
  /// The last value is reduced by this node: the anchor of a reduction.
  ir::NodeId reduction = ir::kNoNode;
};

/// The arithmetic of a program: int64 where every operation computes with integers, double where a
/// double or a wide integer meets other types, else float.
TileCompute choose_compute(const fusion::FusionGroup& group, const fusion::Expression& expression,
                           ir::NodeId reduction = ir::kNoNode);

/// An operation of the expression that computes with integers, and would not give the same in the
/// floating-point program that the others make of it; kNoNode if there is none.
ir::NodeId find_misplaced_integer_node(const fusion::FusionGroup& group,
                                       const fusion::Expression& expression,
                                       ir::NodeId reduction = ir::kNoNode);

CompiledExpression compile_expression(const fusion::FusionGroup& group,
                                      const fusion::Expression& expression,
                                      const CompileOptions& options);

/// The expression that only reads a tensor.
fusion::Expression load_expression(ir::TensorId tensor);

/// The type of the values in a program's slots.
DataType_t compute_type(TileCompute compute);

/// Position among a kernel's pointers; -1 when the tensor is neither input nor output.
int pointer_index(const fusion::FusionGroup& group, ir::TensorId tensor);

}  // namespace warploom::cpu
