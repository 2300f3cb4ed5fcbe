#pragma once

#include "engines/cpu/kernels/lines.h"
#include "engines/cpu/kernels/tile_frame.h"
#include "engines/cpu/kernels/transpose.h"

// Between external tensors and tiles: loads, stores and rounding.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

constexpr int kPiece = 64;  // elements of a line on the stack

WARPLOOM_INLINE int64_t row_offset(const TileOperand& operand, int row) {
  return operand.row_offsets != nullptr ? operand.row_offsets[row] : row * operand.row_stride;
}

WARPLOOM_INLINE bool row_varies(const TileOperand& operand) {
  return operand.row_offsets != nullptr || operand.row_stride != 0;
}

/// Consecutive along rows and not along columns.
WARPLOOM_INLINE bool is_transposed(const TileOperand& operand) {
  return operand.row_stride == 1 && operand.row_offsets == nullptr && operand.column_stride > 1;
}

template <class T>
constexpr DataType_t kOwnType = kSame<T, float>    ? DataType_t::FLOAT
                                : kSame<T, double> ? DataType_t::DOUBLE
                                                   : DataType_t::INT64;

/// Lines of a transposed tensor, several at a time on the stack: to[j][i] = from[i][j] for i <
/// rows, j < columns.
template <class T>
WARPLOOM_INLINE void transpose(const T* from, int64_t from_stride, T* to, int64_t to_stride,
                               int rows, int columns) {
  int whole_rows = 0, whole_columns = 0;
  if constexpr (sizeof(T) == sizeof(Unit)) {
    whole_rows = rows / kTransposed * kTransposed;
    whole_columns = columns / kTransposed * kTransposed;
    for (int i = 0; i < whole_rows; i += kTransposed) {
      for (int j = 0; j < whole_columns; j += kTransposed) {
        transpose_block(reinterpret_cast<const Unit*>(from + i * from_stride + j), from_stride,
                        reinterpret_cast<Unit*>(to + j * to_stride + i), to_stride);
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = i < whole_rows ? whole_columns : 0; j < columns; ++j) {
      to[j * to_stride + i] = from[i * from_stride + j];
    }
  }
}

template <class T>
void load_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  const TileOperand& operand = frame.operands[instruction.operand];
  constexpr int kReadable = 16;  // the vectors of every type end where the tile ends
  if (instruction.in_place && instruction.type == kOwnType<T> && operand.column_stride == 1 &&
      frame.columns % kReadable == 0 && operand.row_offsets == nullptr) {
    frame.values[instruction.result] = {static_cast<const T*>(operand.data), operand.row_stride,
                                        true};
    return;
  }
  const Lines<T> lines = lines_of<T>(instruction.type);
  const bool varies = operand.column_stride != 0;
  const int rows = row_varies(operand) ? frame.rows : 1;
  const int columns = varies ? frame.columns : 1;
  T* target = frame.define(instruction.result, row_varies(operand), varies);
  const auto* source = static_cast<const char*>(operand.data);
  if (!is_transposed(operand) || columns == 1) {
    for (int i = 0; i < rows; ++i, target += frame.slot_stride) {
      lines.read(source + row_offset(operand, i) * lines.bytes, operand.column_stride, target,
                 columns);
    }
    return;
  }
  T piece[kTransposed * kPiece];
  for (int j = 0; j < columns; j += kTransposed) {
    const int count = columns - j < kTransposed ? columns - j : kTransposed;
    for (int first = 0; first < rows; first += kPiece) {
      const int length = rows - first < kPiece ? rows - first : kPiece;
      for (int c = 0; c < count; ++c) {
        const int64_t offset = first + (j + c) * operand.column_stride;
        lines.read(source + offset * lines.bytes, 1, piece + c * kPiece, length);
      }
      transpose(piece, kPiece, target + first * frame.slot_stride + j, frame.slot_stride, count,
                length);
    }
  }
}

template <class T>
void store_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  const TileOperand& operand = frame.operands[instruction.operand];
  const TileData<T> value = frame.values[instruction.inputs[0]];
  if (value.data == operand.data && instruction.type == kOwnType<T> && value.column_varies &&
      operand.column_stride == 1 && operand.row_offsets == nullptr &&
      (value.row_step == operand.row_stride || frame.rows == 1)) {
    return;  // computed there
  }
  const Lines<T> lines = lines_of<T>(instruction.type);
  auto* target = static_cast<char*>(operand.data);
  T piece[kPiece];
  if (!value.column_varies) {
    for (int i = 0; i < frame.rows; ++i) {
      for (T& element : piece) element = value.row(i)[0];
      for (int j = 0; j < frame.columns; j += kPiece) {
        const int64_t offset = row_offset(operand, i) + j * operand.column_stride;
        const int count = frame.columns - j < kPiece ? frame.columns - j : kPiece;
        lines.write(piece, target + offset * lines.bytes, operand.column_stride, count);
      }
    }
  } else if (!is_transposed(operand) || frame.columns == 1) {
    for (int i = 0; i < frame.rows; ++i) {
      lines.write(value.row(i), target + row_offset(operand, i) * lines.bytes,
                  operand.column_stride, frame.columns);
    }
  } else {
    T block[kTransposed * kPiece];
    for (int j = 0; j < frame.columns; j += kTransposed) {
      const int count = frame.columns - j < kTransposed ? frame.columns - j : kTransposed;
      for (int first = 0; first < frame.rows; first += kPiece) {
        const int length = frame.rows - first < kPiece ? frame.rows - first : kPiece;
        transpose(value.row(first) + j, value.row_step, block, kPiece, length, count);
        for (int c = 0; c < count; ++c) {
          const int64_t offset = first + (j + c) * operand.column_stride;
          lines.write(block + c * kPiece, target + offset * lines.bytes, 1, length);
        }
      }
    }
  }
}

template <class T>
void round_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  const TileData<T> value = frame.values[instruction.inputs[0]];
  const Lines<T> lines = lines_of<T>(instruction.type);
  const int rows = value.row_varies() ? frame.rows : 1;
  const int columns = value.column_varies ? frame.columns : 1;
  T* target = frame.define(instruction.result, value.row_varies(), value.column_varies);
  alignas(64) char piece[kPiece * sizeof(int64_t)];
  for (int i = 0; i < rows; ++i, target += frame.slot_stride) {
    for (int j = 0; j < columns; j += kPiece) {
      const int count = columns - j < kPiece ? columns - j : kPiece;
      lines.write(value.row(i) + j, piece, 1, count);
      lines.read(piece, 1, target + j, count);
    }
  }
}

template <class T>
void index_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  const TileOperand& operand = frame.operands[instruction.operand];
  const bool varies = operand.column_stride != 0;
  const int rows = row_varies(operand) ? frame.rows : 1;
  const int columns = varies ? frame.columns : 1;
  T* target = frame.define(instruction.result, row_varies(operand), varies);
  for (int i = 0; i < rows; ++i, target += frame.slot_stride) {
    const int64_t start = operand.index + row_offset(operand, i);
    for (int j = 0; j < columns; ++j) {
      target[j] = static_cast<T>(start + j * operand.column_stride);
    }
  }
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
