#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <warploom/frozen_graph.h>

#include "base/element.h"
#include "ops/reference.h"
#include "ops/tiles.h"

// Loops over the elements of a tensor of any rank.

namespace warploom::ops {

using Index = std::array<int64_t, ir::kMaxRank>;

/// Dims of a tensor that is not there, without an allocation.
class FixedDims {
 public:
  FixedDims() = default;
  FixedDims(size_t rank, int64_t value) : rank_(rank) { std::fill(begin(), end(), value); }
  explicit FixedDims(std::span<const int64_t> dims) : rank_(dims.size()) {
    std::copy(dims.begin(), dims.end(), begin());
  }

  int64_t* begin() { return values_.data(); }
  int64_t* end() { return values_.data() + rank_; }
  size_t size() const { return rank_; }
  int64_t& operator[](size_t axis) { return values_[axis]; }
  int64_t operator[](size_t axis) const { return values_[axis]; }
  operator std::span<const int64_t>() const { return {values_.data(), rank_}; }
  operator std::vector<int64_t>() const { return {values_.data(), values_.data() + rank_}; }

  /// Elements, and the position of one in row-major order; a dim of 1 repeats.
  int64_t volume() const {
    int64_t product = 1;
    for (size_t axis = 0; axis < rank_; ++axis) product *= values_[axis];
    return product;
  }
  int64_t position(const Index& index) const {
    int64_t place = 0;
    for (size_t axis = 0; axis < rank_; ++axis)
      place = place * values_[axis] + (values_[axis] == 1 ? 0 : index[axis]);
    return place;
  }

 private:
  Index values_{};
  size_t rank_ = 0;
};

/// Calls function(index) for every element, in row-major order. Entries beyond the rank are 0.
template <class Function>
void for_each_index(std::span<const int64_t> dims, Function&& function) {
  for (int64_t dim : dims)
    if (dim == 0) return;
  Index index{};
  while (true) {
    function(static_cast<const Index&>(index));
    size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

/// Calls function(index) for the elements of a tensor that are reduced into the element `kept` of
/// its reduction: over every axis where `reduced_dims` is 1, in row-major order.
template <class Function>
void for_each_reduced_index(std::span<const int64_t> dims, std::span<const int64_t> reduced_dims,
                            const Index& kept, Function&& function) {
  for (int64_t dim : dims)
    if (dim == 0) return;
  Index index = kept;
  while (true) {
    function(static_cast<const Index&>(index));
    size_t axis = dims.size();
    for (; axis > 0; --axis) {
      if (reduced_dims[axis - 1] != 1) continue;
      if (++index[axis - 1] < dims[axis - 1]) break;
      index[axis - 1] = 0;
    }
    if (axis == 0) return;
  }
}

inline int64_t offset_of(const ir::Shape& shape, const Index& index) {
  int64_t offset = 0;
  for (size_t i = 0; i < shape.dims.size(); ++i) offset += index[i] * shape.strides[i];
  return offset;
}

/// Of a tensor that may be reordered.
inline int64_t offset_of(const ReferenceTensor& tensor, const Index& index) {
  if (tensor.reordering == TensorReordering_t::NONE) return offset_of(*tensor.shape, index);
  return tiled_offset(*tensor.shape, index);
}

/// Of a tensor broadcast to `rank` dims: aligned right, dims of 1 repeated.
inline int64_t broadcast_offset_of(const ir::Shape& shape, size_t rank, const Index& index) {
  int64_t offset = 0;
  const size_t own = shape.dims.size();
  // A scalar of a higher rank than `rank` is all ones.
  for (size_t i = own > rank ? own - rank : 0; i < own; ++i)
    if (shape.dims[i] != 1) offset += index[rank - own + i] * shape.strides[i];
  return offset;
}

template <class Number>
Number load(const ReferenceTensor& tensor, int64_t offset) {
  if constexpr (std::is_same_v<Number, int64_t>)
    return base::load_int64(tensor.data, tensor.type, offset);
  else
    return base::load_double(tensor.data, tensor.type, offset);
}

inline void store(const ReferenceTensor& tensor, int64_t offset, double value) {
  base::store_double(tensor.data, tensor.type, offset, value);
}
inline void store(const ReferenceTensor& tensor, int64_t offset, int64_t value) {
  base::store_int64(tensor.data, tensor.type, offset, value);
}

}  // namespace warploom::ops
