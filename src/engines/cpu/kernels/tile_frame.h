#pragma once

#include "engines/cpu/kernels/simd.h"
#include "engines/cpu/kernels/tile_program.h"

// The values of a tile program while it runs on one tile.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

/// A value: rows x columns elements, of which only those are stored that differ. Vectors may be
/// read past the tile's columns, up to a multiple of 16, where there is garbage.
template <class T>
struct TileData {
  const T* data;
  int64_t row_step;  // 0 if all rows are the same
  bool column_varies;

  bool row_varies() const { return row_step != 0; }
  const T* row(int i) const { return data + i * row_step; }
};

static_assert(sizeof(TileData<float>) == 24);  // kValueBytes in tile_program.cpp

template <class T>
struct TileFrame {
  TileData<T>* values;  // one of each slot
  T* slots;
  int64_t slot_elements;
  int slot_stride;
  int rows, columns;
  const TileOperand* operands;

  /// Columns in whole vectors.
  int padded_columns(bool varies) const {
    return varies ? (columns + kLanes<T> - 1) / kLanes<T> * kLanes<T> : kLanes<T>;
  }

  /// Makes room for a result: in its slot, or right in the tensor it will be stored in. Rows are
  /// values[result].row_step apart.
  T* define(const TileInstruction& instruction, bool row_varies, bool column_varies) {
    if (instruction.stored_in >= 0) {
      const TileOperand& tensor = operands[instruction.stored_in];
      if (column_varies && (row_varies || rows == 1) && tensor.column_stride == 1 &&
          tensor.row_offsets == nullptr && columns % kLanes<T> == 0) {
        T* data = static_cast<T*>(tensor.data);
        values[instruction.result] = {data, row_varies ? tensor.row_stride : 0, true};
        return data;
      }
    }
    return define(instruction.result, row_varies, column_varies);
  }
  /// Makes room in a slot.
  T* define(int slot, bool row_varies, bool column_varies) {
    T* data = slots + slot * slot_elements;
    values[slot] = {data, row_varies ? slot_stride : 0, column_varies};
    return data;
  }
};

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
