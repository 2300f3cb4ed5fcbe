#include "engines/cpu/kernels/tile_program.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engines/cpu/kernels/tile_peephole.h"

namespace warploom::cpu {
namespace {

constexpr int32_t kSlotAlignment = 16;  // columns; the widest vector of any compute type
constexpr size_t kElementBytes[] = {sizeof(float), sizeof(double), sizeof(int64_t)};
constexpr size_t kValueBytes = 24;  // TileData in tile_frame.h

int32_t aligned_up(int32_t value, int32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Whether every value of the compute type is one of `type`.
bool holds_all(DataType_t type, TileCompute compute) {
  switch (compute) {
    case TileCompute::kFloat:
      return type == DataType_t::FLOAT || type == DataType_t::DOUBLE;
    case TileCompute::kDouble:
      return type == DataType_t::DOUBLE;
    case TileCompute::kInt64:
      return type == DataType_t::INT64;
  }
  return false;
}

bool has_effect(TileOpcode opcode) {
  return opcode == TileOpcode::kStore || opcode == TileOpcode::kReduce ||
         opcode == TileOpcode::kAnchor;
}

}  // namespace

int32_t TileProgram::slot_stride(TileShape shape) {
  return aligned_up(shape.columns, kSlotAlignment);
}

size_t TileProgram::slot_bytes() const {
  const size_t elements = static_cast<size_t>(slot_count_) * static_cast<size_t>(shape_.rows) *
                          static_cast<size_t>(slot_stride());
  return elements * kElementBytes[static_cast<size_t>(compute_)] +
         static_cast<size_t>(slot_count_) * kValueBytes;
}

TileProgramView TileProgram::view(TileShape shape) const {
  assert(shape.rows * slot_stride(shape) <= shape_.rows * slot_stride());
  return {instructions_.data(), static_cast<int32_t>(instructions_.size()),
          shape.rows,           slot_stride(shape),
          slot_count_,          compute_};
}

TileValue TileProgramBuilder::append(TileInstruction instruction) {
  instruction.result = value_count_++;
  instructions_.push_back(instruction);
  return {instruction.result};
}

TileValue TileProgramBuilder::anchor() {
  assert(instructions_.empty());
  return append({.opcode = TileOpcode::kAnchor});
}

TileValue TileProgramBuilder::constant(double value) {
  return append({.opcode = TileOpcode::kConstant, .constant = value});
}

TileValue TileProgramBuilder::load(int operand, DataType_t type) {
  return append({.opcode = TileOpcode::kLoad, .type = type, .operand = operand});
}

TileValue TileProgramBuilder::index(int operand) {
  return append({.opcode = TileOpcode::kIndex, .operand = operand});
}

TileValue TileProgramBuilder::pointwise(const TilePointwise& operation, TileValue in0,
                                        TileValue in1, TileValue in2) {
  return append({.opcode = TileOpcode::kPointwise,
                 .inputs = {in0.id, in1.id, in2.id, -1},
                 .pointwise = operation});
}

TileValue TileProgramBuilder::round(TileValue value, DataType_t type) {
  if (holds_all(type, compute_)) return value;
  return append({.opcode = TileOpcode::kRound, .type = type, .inputs = {value.id, -1, -1, -1}});
}

TileValue TileProgramBuilder::store(int operand, DataType_t type, TileValue value) {
  // The store rounds by itself: the rounded tile is computed only if something reads it.
  const TileValue stored = round(value, type);
  instructions_.push_back({.opcode = TileOpcode::kStore,
                           .type = type,
                           .operand = operand,
                           .inputs = {value.id, -1, -1, -1}});
  return stored;
}

void TileProgramBuilder::reduce(int operand, ReductionMode_t mode, TileValue value) {
  instructions_.push_back({.opcode = TileOpcode::kReduce,
                           .reduction = mode,
                           .operand = operand,
                           .inputs = {value.id, -1, -1, -1}});
}

namespace {

/// The instructions whose results are used, in order.
std::vector<TileInstruction> without_dead(const std::vector<TileInstruction>& instructions,
                                          int32_t value_count) {
  std::vector<bool> used(static_cast<size_t>(value_count), false);
  std::vector<TileInstruction> kept;
  for (auto it = instructions.rbegin(); it != instructions.rend(); ++it) {
    const bool wanted = it->result >= 0 && used[static_cast<size_t>(it->result)];
    if (!wanted && !has_effect(it->opcode)) continue;
    kept.push_back(*it);
    for (int32_t input : it->inputs) {
      if (input >= 0) used[static_cast<size_t>(input)] = true;
    }
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

std::vector<int32_t> last_uses(const std::vector<TileInstruction>& instructions,
                               int32_t value_count) {
  std::vector<int32_t> last(static_cast<size_t>(value_count), -1);
  for (size_t i = 0; i < instructions.size(); ++i) {
    for (int32_t input : instructions[i].inputs) {
      if (input >= 0) last[static_cast<size_t>(input)] = static_cast<int32_t>(i);
    }
  }
  return last;
}

}  // namespace

TileProgram TileProgramBuilder::build(TileShape shape) {
  std::vector<TileInstruction> kept = without_dead(instructions_, value_count_);
  if (compute_ != TileCompute::kInt64) merge_affine(kept, value_count_);
  compute_in_tensors(kept, compute_);
  const std::vector<int32_t> last_use = last_uses(kept, value_count_);

  TileProgram program;
  program.shape_ = shape;
  program.compute_ = compute_;
  std::vector<int32_t> slot_of(static_cast<size_t>(value_count_), -1), free;
  for (size_t i = 0; i < kept.size(); ++i) {
    TileInstruction& instruction = kept[i];
    program.operand_count_ = std::max(program.operand_count_, instruction.operand + 1);
    const int32_t result = instruction.result;
    if (instruction.opcode == TileOpcode::kLoad) {
      const auto begin = kept.begin() + static_cast<ptrdiff_t>(i);
      const auto end = kept.begin() + last_use[static_cast<size_t>(result)];
      instruction.in_place = std::none_of(begin, end, [](const TileInstruction& between) {
        return between.opcode == TileOpcode::kStore || between.opcode == TileOpcode::kReduce;
      });
    }
    std::vector<int32_t> dying;  // slots that nothing reads afterwards
    for (int32_t& input : instruction.inputs) {
      if (input < 0) continue;
      const int32_t slot = slot_of[static_cast<size_t>(input)];
      const bool last = last_use[static_cast<size_t>(input)] == static_cast<int32_t>(i);
      if (last && std::find(dying.begin(), dying.end(), slot) == dying.end()) {
        dying.push_back(slot);
      }
      input = slot;
    }
    // A result never shares a slot with an input: broadcast inputs are read again for every row.
    if (result >= 0) {
      if (free.empty()) free.push_back(program.slot_count_++);
      instruction.result = slot_of[static_cast<size_t>(result)] = free.back();
      free.pop_back();
      if (last_use[static_cast<size_t>(result)] < 0) free.push_back(instruction.result);
    }
    free.insert(free.end(), dying.begin(), dying.end());
  }
  program.instructions_ = std::move(kept);
  instructions_.clear();
  value_count_ = 0;
  return program;
}

}  // namespace warploom::cpu
