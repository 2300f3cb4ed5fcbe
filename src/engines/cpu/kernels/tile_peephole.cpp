#include "engines/cpu/kernels/tile_peephole.h"

#include <optional>

namespace warploom::cpu {
namespace {

/// The instruction as kAffine; none if it is something else.
std::optional<TileInstruction> as_affine(const TileInstruction& instruction) {
  if (instruction.opcode == TileOpcode::kAffine) return instruction;
  if (instruction.opcode != TileOpcode::kPointwise) return std::nullopt;
  TileInstruction affine = instruction;
  affine.opcode = TileOpcode::kAffine;
  affine.pointwise = {};
  const int32_t in0 = instruction.inputs[0], in1 = instruction.inputs[1];
  switch (instruction.pointwise.mode) {
    case PointwiseMode_t::MUL:
      return affine;
    case PointwiseMode_t::ADD:
      affine.inputs[0] = in0;
      affine.inputs[1] = -1;
      affine.inputs[2] = in1;
      return affine;
    case PointwiseMode_t::RELU_FWD:
      if (instruction.pointwise.relu_lower_clip_slope != 0.0) return std::nullopt;
      affine.pointwise = instruction.pointwise;
      return affine;
    default:
      return std::nullopt;
  }
}

/// `next` applied to the affine result `value`; none if that is no kAffine.
std::optional<TileInstruction> followed_by(TileInstruction affine, const TileInstruction& next,
                                           int32_t value) {
  if (affine.pointwise.mode != PointwiseMode_t::NOT_SET) return std::nullopt;  // clipped already
  affine.result = next.result;
  if (next.pointwise.mode == PointwiseMode_t::RELU_FWD) {
    if (next.pointwise.relu_lower_clip_slope != 0.0) return std::nullopt;
    affine.pointwise = next.pointwise;
    return affine;
  }
  if (next.pointwise.mode != PointwiseMode_t::ADD) return std::nullopt;
  const int32_t other = next.inputs[0] == value ? next.inputs[1] : next.inputs[0];
  for (int k : {2, 3}) {
    if (affine.inputs[k] >= 0) continue;
    affine.inputs[k] = other;
    return affine;
  }
  return std::nullopt;
}

}  // namespace

void merge_affine(std::vector<TileInstruction>& instructions, int32_t value_count) {
  std::vector<int32_t> uses(static_cast<size_t>(value_count), 0);
  for (const TileInstruction& instruction : instructions) {
    for (int32_t input : instruction.inputs) {
      if (input >= 0) ++uses[static_cast<size_t>(input)];
    }
  }
  std::vector<int32_t> producer(static_cast<size_t>(value_count), -1);
  std::vector<bool> merged(instructions.size(), false);
  for (size_t i = 0; i < instructions.size(); ++i) {
    TileInstruction& instruction = instructions[i];
    for (int c = 0; c < 2 && instruction.opcode == TileOpcode::kPointwise; ++c) {
      const int32_t value = instruction.inputs[c];
      if (value < 0 || uses[static_cast<size_t>(value)] != 1) continue;
      const auto source = static_cast<size_t>(producer[static_cast<size_t>(value)]);
      const auto affine = as_affine(instructions[source]);
      const auto both = affine ? followed_by(*affine, instruction, value) : std::nullopt;
      if (!both) continue;
      instruction = *both;
      merged[source] = true;
    }
    if (instruction.result >= 0) {
      producer[static_cast<size_t>(instruction.result)] = static_cast<int32_t>(i);
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (!merged[i]) instructions[kept++] = instructions[i];
  }
  instructions.resize(kept);
}

void compute_in_tensors(std::vector<TileInstruction>& instructions, TileCompute compute) {
  constexpr DataType_t kOwnTypes[] = {DataType_t::FLOAT, DataType_t::DOUBLE, DataType_t::INT64};
  const DataType_t own = kOwnTypes[static_cast<size_t>(compute)];
  for (size_t i = 0; i + 1 < instructions.size(); ++i) {
    TileInstruction& instruction = instructions[i];
    const TileInstruction& next = instructions[i + 1];
    const bool computes =
        instruction.opcode == TileOpcode::kPointwise || instruction.opcode == TileOpcode::kAffine;
    if (computes && next.opcode == TileOpcode::kStore && next.type == own &&
        next.inputs[0] == instruction.result) {
      instruction.stored_in = next.operand;
    }
  }
}

}  // namespace warploom::cpu
