#pragma once
/// Elements of every data type that a tensor's memory can hold, as numbers.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <warploom/types.h>

namespace warploom::tools {

/// INT64 beyond 2^53 loses low bits: compare_tensors() looks at the bytes as well.
double load_element(DataType_t type, const std::byte* from);
/// Rounds to the type; `value` must be in its range.
void store_element(DataType_t type, std::byte* to, double value);

bool is_floating_point(DataType_t type);

/// Walks the elements of `dims` in row-major order. For each of the N layouts given by strides,
/// visit gets the element's offset, the sum of index times stride.
template <size_t N, class Visit>
void for_each_offset(const std::vector<int64_t>& dims,
                     const std::array<std::span<const int64_t>, N>& strides, Visit&& visit) {
  for (int64_t dim : dims) {
    if (dim == 0) return;
  }
  std::vector<int64_t> index(dims.size(), 0);
  std::array<int64_t, N> offsets{};
  const auto move = [&](size_t axis, int64_t steps) {
    for (size_t i = 0; i < N; ++i) offsets[i] += steps * strides[i][axis];
  };
  while (true) {
    std::apply(visit, offsets);
    size_t axis = dims.size();
    while (axis > 0 && index[axis - 1] + 1 == dims[axis - 1]) {
      --axis;
      move(axis, -index[axis]);
      index[axis] = 0;
    }
    if (axis == 0) return;
    ++index[axis - 1];
    move(axis - 1, 1);
  }
}

}  // namespace warploom::tools
