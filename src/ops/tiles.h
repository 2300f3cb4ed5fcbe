#pragma once
#include <span>

#include <warploom/frozen_graph.h>

// TensorReordering_t::F8_128x4, the layout of block scales that tensor cores read: of the last two
// dims, the one with the smaller stride are columns, the other rows. Tiles of 128 rows by 4 columns
// follow each other row by row, filled up at the ends; in a tile, row r and column c are at byte
// (r % 32) 16 + (r / 32) 4 + c. Leading dims are row-major over whole matrices.

namespace warploom::ops {

struct Tiling {
  size_t row_axis, column_axis;
  int64_t down, across;  ///< tiles of a matrix

  explicit Tiling(const ir::Shape& shape) {
    const size_t last = shape.dims.size() - 1;
    const bool is_transposed = shape.strides[last - 1] < shape.strides[last];
    row_axis = is_transposed ? last : last - 1;
    column_axis = is_transposed ? last - 1 : last;
    down = (shape.dims[row_axis] + 127) / 128;
    across = (shape.dims[column_axis] + 3) / 4;
  }
};

inline int64_t tiled_offset(const ir::Shape& shape, std::span<const int64_t> index) {
  const Tiling tiling(shape);
  int64_t matrix = 0;
  for (size_t i = 0; i + 2 < shape.dims.size(); ++i) matrix = matrix * shape.dims[i] + index[i];
  const int64_t row = index[tiling.row_axis], column = index[tiling.column_axis];
  const int64_t tile = (matrix * tiling.down + row / 128) * tiling.across + column / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

/// Elements of the memory, those that fill up tiles among them.
inline int64_t tiled_elements(const ir::Shape& shape) {
  const Tiling tiling(shape);
  int64_t elements = tiling.down * tiling.across * 512;
  for (size_t i = 0; i + 2 < shape.dims.size(); ++i) elements *= shape.dims[i];
  return elements;
}

}  // namespace warploom::ops
