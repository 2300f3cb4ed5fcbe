#include "ops/reshape_axes.h"

#include <algorithm>

namespace warploom::ops {

std::optional<std::vector<AxisBlock>> matching_axes(const Dims& x, const Dims& y) {
  if (std::ranges::count(x, 0) + std::ranges::count(y, 0) > 0) return std::nullopt;
  std::vector<AxisBlock> blocks;
  size_t i = 0, j = 0;
  while (i < x.size() && j < y.size()) {
    AxisBlock block{i, i + 1, j, j + 1};
    int64_t x_elements = x[i++], y_elements = y[j++];
    while (x_elements != y_elements) {
      if (x_elements < y_elements && i < x.size())
        x_elements *= x[i++];
      else if (y_elements < x_elements && j < y.size())
        y_elements *= y[j++];
      else
        return std::nullopt;  // not the same number of elements
    }
    block.x_end = i;
    block.y_end = j;
    blocks.push_back(block);
  }
  // What is left is of size 1.
  if (blocks.empty()) blocks.emplace_back();
  blocks.back().x_end = x.size();
  blocks.back().y_end = y.size();
  return blocks;
}

std::optional<Dims> split_strides(const std::vector<AxisBlock>& blocks, const Dims& x_strides,
                                  const Dims& y_dims) {
  Dims strides(y_dims.size());
  for (const AxisBlock& block : blocks) {
    if (!block.is_split()) return std::nullopt;
    int64_t stride = x_strides[block.x_begin];
    for (size_t axis = block.y_end; axis-- > block.y_begin; stride *= y_dims[axis])
      strides[axis] = stride;
  }
  return strides;
}

std::optional<Dims> split_strides(const ir::Shape& x, const Dims& y_dims) {
  const auto blocks = matching_axes(x.dims, y_dims);
  return blocks ? split_strides(*blocks, x.strides, y_dims) : std::nullopt;
}

}  // namespace warploom::ops
