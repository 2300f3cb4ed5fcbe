#pragma once

#include "engines/cpu/kernels/affine.h"
#include "engines/cpu/kernels/pointwise.h"
#include "engines/cpu/kernels/tile_memory.h"
#include "engines/cpu/kernels/tile_reduce.h"

// The interpreter of tile programs, for one compute type.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

template <class T>
void constant_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  frame.define(instruction.result, false, false)[0] =
      Codec<DataType_t::DOUBLE>::decode<T>(instruction.constant);
}

template <class T>
void interpret(const TileProgramView& program, const TileArguments& arguments) {
  TileFrame<T> frame;
  frame.slots = static_cast<T*>(arguments.slots);
  frame.slot_stride = program.slot_stride;
  frame.slot_elements = static_cast<int64_t>(program.slot_rows) * program.slot_stride;
  frame.values =
      reinterpret_cast<TileData<T>*>(frame.slots + program.slot_count * frame.slot_elements);
  frame.rows = arguments.rows;
  frame.columns = arguments.columns;
  frame.operands = arguments.operands;
  for (int i = 0; i < program.instruction_count; ++i) {
    const TileInstruction& instruction = program.instructions[i];
    switch (instruction.opcode) {
      case TileOpcode::kAnchor:
        frame.define(instruction.result, true, true);
        break;
      case TileOpcode::kConstant:
        constant_tile<T>(frame, instruction);
        break;
      case TileOpcode::kLoad:
        load_tile<T>(frame, instruction);
        break;
      case TileOpcode::kIndex:
        index_tile<T>(frame, instruction);
        break;
      case TileOpcode::kPointwise:
        pointwise_tile<T>(frame, instruction);
        break;
      case TileOpcode::kAffine:
        if constexpr (!kIsInteger<T>) affine_tile<T>(frame, instruction);
        break;
      case TileOpcode::kRound:
        round_tile<T>(frame, instruction);
        break;
      case TileOpcode::kStore:
        store_tile<T>(frame, instruction);
        break;
      case TileOpcode::kReduce:
        reduce_tile<T>(frame, instruction);
        break;
    }
  }
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
