#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warploom/types.h>

// Straight-line programs over tiles small enough for the L1 cache: the epilogue of a contraction,
// and the whole of a pointwise or reduction group. A program knows neither extents nor strides: a
// tile is up to `rows` x `columns` elements of the iteration space, and TileArguments say where the
// tile lies in every external tensor. Broadcast is a stride of 0 found at run time: what varies
// only along columns (a bias) or rows (a mean) is loaded and computed once, not once an element.
//
//   TileProgramBuilder builder(TileCompute::kFloat);
//   TileValue c = builder.anchor();                            // the caller fills it (a matmul
//   tile) TileValue bias = builder.load(0, DataType_t::FLOAT);       // operand 0 TileValue sum =
//   builder.pointwise({.mode = PointwiseMode_t::ADD}, c, bias); TileValue y = builder.store(1,
//   DataType_t::BFLOAT16, sum); // y is the rounded value builder.reduce(2, ReductionMode_t::AMAX,
//   y);               // operand 2: accumulators TileProgram program = builder.build({.rows = 28,
//   .columns = 64});
//
//   void* slots = ...;  // program.slot_bytes(), aligned to 64, one for each thread
//   gemm tile -> program.anchor(slots), program.slot_stride()
//   kernels.run_tile(program.view(), {operands, slots, rows, columns});

namespace warploom::cpu {

/// The arithmetic of a program. kInt64 is exact for integer graphs; transcendental functions in it
/// go through double and round half to even.
enum class TileCompute : uint8_t { kFloat, kDouble, kInt64 };

/// The result of one instruction.
struct TileValue {
  int32_t id = -1;
};

/// A pointwise mode and the attributes that some modes have.
struct TilePointwise {
  PointwiseMode_t mode = PointwiseMode_t::NOT_SET;
  double relu_lower_clip = 0.0;
  double relu_upper_clip = __builtin_inf();  ///< none
  double relu_lower_clip_slope = 0.0;
  double swish_beta = 1.0;
  double elu_alpha = 1.0;
  double softplus_beta = 1.0;
};

enum class TileOpcode : uint8_t {
  kAnchor,     // the tile that the caller computed in slot 0
  kConstant,   // `constant`
  kLoad,       // operand, converted from `type`
  kIndex,      // a coordinate; operand gives its start and steps
  kPointwise,  // `pointwise` of one to three values
  kAffine,     // clip(in0 * in1 + in2 + in3): several pointwise instructions, made by build()
  kRound,      // to the values that `type` can hold
  kStore,      // operand, rounded once to `type`
  kReduce,     // into the accumulators of operand
};

struct TileInstruction {
  TileOpcode opcode = TileOpcode::kConstant;
  DataType_t type = DataType_t::NOT_SET;
  ReductionMode_t reduction = ReductionMode_t::NOT_SET;
  /// The operand may be read where it lies: nothing is stored while the value lives.
  bool in_place = false;
  int32_t operand = -1;
  int32_t result = -1;                   // slot; -1 for kStore and kReduce
  int32_t inputs[4] = {-1, -1, -1, -1};  // slots; of kAffine those from 1 on may be absent
  /// The store that follows at once: the result may be computed where it is stored.
  int32_t stored_in = -1;
  double constant = 0.0;
  TilePointwise pointwise = {};
};

/// Where the tile lies in an external tensor, in elements of its type.
struct TileOperand {
  void* data = nullptr;       ///< the tile's first element
  int64_t row_stride = 0;     ///< 0: the same for every row (reduced over rows, for kReduce)
  int64_t column_stride = 0;  ///< 0: the same for every column
  /// Rows that are not evenly spaced: the offset of each from `data`; row_stride is not used then.
  const int64_t* row_offsets = nullptr;
  /// kIndex only: the coordinate of the tile's first element; the strides are its steps.
  int64_t index = 0;
};

struct TileArguments {
  const TileOperand* operands = nullptr;
  void* slots =
      nullptr;       ///< TileProgram::slot_bytes() bytes, aligned to 64; contents do not matter
  int32_t rows = 0;  ///< of this tile; at most TileShape's
  int32_t columns = 0;
};

/// What the kernels see of a program.
struct TileProgramView {
  const TileInstruction* instructions = nullptr;
  int32_t instruction_count = 0;
  int32_t slot_rows = 0;
  int32_t slot_stride = 0;  // elements from one row of a slot to the next
  int32_t slot_count = 0;
  TileCompute compute = TileCompute::kFloat;
};

struct TileShape {
  int32_t rows = 28;
  int32_t columns = 64;  ///< for an anchor: a multiple of the micro-kernel's columns
};

/// Immutable, and shared by any number of threads.
class TileProgram {
 public:
  TileProgram() = default;

  TileCompute compute() const { return compute_; }
  TileShape shape() const { return shape_; }
  int operand_count() const { return operand_count_; }

  /// Bytes of scratch that one running thread needs.
  size_t slot_bytes() const;
  /// Elements (of the compute type) between rows of the anchor.
  int32_t slot_stride() const { return slot_stride(shape_); }
  static int32_t slot_stride(TileShape shape);
  /// Where the caller puts the anchor's tile, with rows slot_stride() apart.
  void* anchor(void* slots) const { return slots; }

  TileProgramView view() const { return view(shape_); }
  /// For tiles of another shape, with no more elements in its slots.
  TileProgramView view(TileShape shape) const;

 private:
  friend class TileProgramBuilder;

  std::vector<TileInstruction> instructions_;
  TileShape shape_;
  int32_t slot_count_ = 0;
  int32_t operand_count_ = 0;
  TileCompute compute_ = TileCompute::kFloat;
};

/// Adds instructions in order. Operands are numbered by the caller; one number may serve several
/// instructions (a tensor loaded and stored again).
class TileProgramBuilder {
 public:
  explicit TileProgramBuilder(TileCompute compute) : compute_(compute) {}

  /// The tile that the caller computes, in the compute type. Must be the first instruction.
  TileValue anchor();
  TileValue constant(double value);
  TileValue load(int operand, DataType_t type);
  /// GEN_INDEX: the coordinate TileOperand::index + row * row_stride + column * column_stride.
  TileValue index(int operand);
  TileValue pointwise(const TilePointwise& operation, TileValue in0, TileValue in1 = {},
                      TileValue in2 = {});
  /// What a tensor of an integer, boolean or 8-bit type would hold. No-op where the compute type
  /// holds no more than `type`.
  TileValue round(TileValue value, DataType_t type);
  /// Writes the tile, and returns what the tensor now holds: what later instructions must read.
  TileValue store(int operand, DataType_t type, TileValue value);
  /// Combines the tile into accumulators (see reduction.h) laid out by the operand's strides: a
  /// stride of 0 reduces over that direction, both reduce to a scalar, none keeps every element.
  void reduce(int operand, ReductionMode_t mode, TileValue value);

  /// Drops what nothing uses, assigns slots by liveness. The builder is empty afterwards.
  TileProgram build(TileShape shape);

 private:
  TileValue append(TileInstruction instruction);

  std::vector<TileInstruction> instructions_;  // inputs and results are value ids here
  int32_t value_count_ = 0;
  TileCompute compute_;
};

}  // namespace warploom::cpu
