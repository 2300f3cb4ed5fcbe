#include "engines/cpu/kernels/tile_program.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace warploom::cpu {
namespace {

constexpr int32_t kSlotAlignment = 16;  // columns; the widest vector of any compute type
constexpr size_t kElementBytes[] = {sizeof(float), sizeof(double), sizeof(int64_t)};
constexpr size_t kValueBytes = 24;  // TileData in tile_frame.h

int32_t round_up(int32_t value, int32_t multiple) {
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

int32_t TileProgram::slot_stride() const {
  return round_up(shape_.columns, kSlotAlignment);
}

size_t TileProgram::slot_bytes() const {
  const size_t elements = static_cast<size_t>(slot_count_) * static_cast<size_t>(shape_.rows) *
                          static_cast<size_t>(slot_stride());
  return elements * kElementBytes[static_cast<size_t>(compute_)] +
         static_cast<size_t>(slot_count_) * kValueBytes;
}

TileProgramView TileProgram::view() const {
  return {instructions_.data(), static_cast<int32_t>(instructions_.size()),
          shape_.rows,          slot_stride(),
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
                 .inputs = {in0.id, in1.id, in2.id},
                 .pointwise = operation});
}

TileValue TileProgramBuilder::round(TileValue value, DataType_t type) {
  if (holds_all(type, compute_)) return value;
  return append({.opcode = TileOpcode::kRound, .type = type, .inputs = {value.id, -1, -1}});
}

TileValue TileProgramBuilder::store(int operand, DataType_t type, TileValue value) {
  // The store rounds by itself: the rounded tile is computed only if something reads it.
  const TileValue stored = round(value, type);
  instructions_.push_back({.opcode = TileOpcode::kStore,
                           .type = type,
                           .operand = operand,
                           .inputs = {value.id, -1, -1}});
  return stored;
}

void TileProgramBuilder::reduce(int operand, ReductionMode_t mode, TileValue value) {
  instructions_.push_back({.opcode = TileOpcode::kReduce,
                           .reduction = mode,
                           .operand = operand,
                           .inputs = {value.id, -1, -1}});
}

TileProgram TileProgramBuilder::build(TileShape shape) {
  // Backwards: what is used, and where last.
  std::vector<int32_t> last_use(static_cast<size_t>(value_count_), -1);
  std::vector<TileInstruction> kept;
  for (auto it = instructions_.rbegin(); it != instructions_.rend(); ++it) {
    const bool used = it->result >= 0 && last_use[static_cast<size_t>(it->result)] >= 0;
    if (!used && !has_effect(it->opcode)) continue;
    const int32_t from_end = static_cast<int32_t>(kept.size());
    kept.push_back(*it);
    for (int32_t input : it->inputs) {
      if (input >= 0 && last_use[static_cast<size_t>(input)] < 0) {
        last_use[static_cast<size_t>(input)] = from_end;
      }
    }
  }
  std::reverse(kept.begin(), kept.end());
  const int32_t count = static_cast<int32_t>(kept.size());
  for (int32_t& use : last_use) use = use < 0 ? -1 : count - 1 - use;

  TileProgram program;
  program.shape_ = shape;
  program.compute_ = compute_;
  std::vector<int32_t> slot_of(static_cast<size_t>(value_count_), -1), free;
  for (int32_t i = 0; i < count; ++i) {
    TileInstruction& instruction = kept[static_cast<size_t>(i)];
    program.operand_count_ = std::max(program.operand_count_, instruction.operand + 1);
    const int32_t result = instruction.result;
    const int32_t inputs[3] = {instruction.inputs[0], instruction.inputs[1], instruction.inputs[2]};
    if (instruction.opcode == TileOpcode::kLoad) {
      const auto begin = kept.begin() + i,
                 end = kept.begin() + last_use[static_cast<size_t>(result)];
      instruction.in_place = std::none_of(begin, end, [](const TileInstruction& between) {
        return between.opcode == TileOpcode::kStore || between.opcode == TileOpcode::kReduce;
      });
    }
    for (int32_t& input : instruction.inputs) {
      if (input >= 0) input = slot_of[static_cast<size_t>(input)];
    }
    // A result never shares a slot with an input: broadcast inputs are read again for every row.
    if (result >= 0) {
      if (free.empty()) free.push_back(program.slot_count_++);
      instruction.result = slot_of[static_cast<size_t>(result)] = free.back();
      free.pop_back();
      if (last_use[static_cast<size_t>(result)] < 0) free.push_back(instruction.result);
    }
    for (int k = 0; k < 3; ++k) {
      const bool repeated = (k > 0 && inputs[k] == inputs[0]) || (k > 1 && inputs[k] == inputs[1]);
      if (inputs[k] >= 0 && !repeated && last_use[static_cast<size_t>(inputs[k])] == i) {
        free.push_back(slot_of[static_cast<size_t>(inputs[k])]);
      }
    }
  }
  program.instructions_ = std::move(kept);
  instructions_.clear();
  value_count_ = 0;
  return program;
}

}  // namespace warploom::cpu
