#pragma once
#include <optional>
#include <vector>

#include <warploom/frozen_graph.h>

#include "ops/strides.h"

// Which axes of a reshape's input and of its result hold the same elements.

namespace warploom::ops {

/// Axes [x_begin, x_end) of X and [y_begin, y_end) of Y: neighbours, as few as possible.
struct AxisBlock {
  size_t x_begin = 0, x_end = 0;
  size_t y_begin = 0, y_end = 0;
  bool is_split() const { return x_end - x_begin == 1; }
  bool is_merged() const { return y_end - y_begin == 1; }
};

/// In order; every axis is in one block. Nothing where there are no elements.
std::optional<std::vector<AxisBlock>> matching_axes(const Dims& x, const Dims& y);

/// The strides with which Y is a view of X, whatever X's strides are: where every axis of X stays
/// or is split. `x_dims` and `y_dims` may be those of another shape of the same blocks.
std::optional<Dims> split_strides(const std::vector<AxisBlock>& blocks, const Dims& x_strides,
                                  const Dims& y_dims);

/// The same for a reshape by itself.
std::optional<Dims> split_strides(const ir::Shape& x, const Dims& y_dims);

}  // namespace warploom::ops
