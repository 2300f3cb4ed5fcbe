#include "ops/strides.h"

#include <algorithm>
#include <numeric>

namespace warploom::ops {
namespace {

// `order` lists the dims from fastest to slowest.
Dims packed_strides(const Dims& dims, const std::vector<size_t>& order) {
  Dims strides(dims.size());
  // Unsigned, because dims may be too large for any memory; who uses the strides checks that.
  uint64_t next = 1;
  for (size_t dim : order) {
    strides[dim] = static_cast<int64_t>(next);
    next *= static_cast<uint64_t>(std::max<int64_t>(dims[dim], 1));
  }
  return strides;
}

std::vector<size_t> last_to_first(size_t rank) {
  std::vector<size_t> order(rank);
  std::iota(order.rbegin(), order.rend(), size_t{0});
  return order;
}

struct Axis {
  int64_t extent, stride;
};

// Does some difference of two indices, not all zero, give the address difference `target`? Axes
// from the largest stride down; `reach[i]` is the most that the axes from i on can add up to.
class CollisionSearch {
 public:
  explicit CollisionSearch(const std::vector<Axis>& axes) : axes_(axes), reach_(axes.size() + 1) {
    for (size_t i = axes.size(); i-- > 0;)
      reach_[i] = reach_[i + 1] + (axes[i].extent - 1) * axes[i].stride;
  }

  bool found() { return search(0, 0, false); }

 private:
  // Wide enough for the sum of two addresses.
  using Wide = __int128;

  bool search(size_t level, Wide target, bool moved) {
    if (level == axes_.size()) return moved && target == 0;
    if (--budget_ < 0) return true;
    const auto& [extent, stride] = axes_[level];
    // target + step * stride must stay within what the later axes can undo.
    const Wide rest = reach_[level + 1], most = extent - 1;
    const Wide lowest = std::max(-most, ceil_divide(-rest - target, stride));
    const Wide highest = std::min(most, floor_divide(rest - target, stride));
    for (Wide step = lowest; step <= highest; ++step) {
      // Of a difference and its negative one is enough.
      if (!moved && step < 0) continue;
      if (search(level + 1, target + step * stride, moved || step != 0)) return true;
    }
    return false;
  }

  static Wide floor_divide(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
  static Wide ceil_divide(Wide a, Wide b) { return a / b + (a % b > 0 ? 1 : 0); }

  const std::vector<Axis>& axes_;
  std::vector<int64_t> reach_;
  int budget_ = 100'000;
};

// Axes of more than one element, the largest stride first.
std::vector<Axis> moving_axes(const Dims& dims, const Dims& strides) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] > 1) axes.push_back({dims[i], strides[i]});
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
    return a.stride != b.stride ? a.stride > b.stride : a.extent > b.extent;
  });
  return axes;
}

}  // namespace

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size());
  uint64_t next = 1;  // as in packed_strides
  for (size_t dim = dims.size(); dim-- > 0;) {
    strides[dim] = static_cast<int64_t>(next);
    next *= static_cast<uint64_t>(std::max<int64_t>(dims[dim], 1));
  }
  return strides;
}

Dims nhwc_strides(const Dims& dims) {
  std::vector<size_t> order = last_to_first(dims.size());
  if (dims.size() > 2) {
    order.erase(order.end() - 2);
    order.insert(order.begin(), 1);
  }
  return packed_strides(dims, order);
}

Dims strides_in_order_of(const Dims& dims, const Dims& other_strides) {
  std::vector<size_t> order = last_to_first(dims.size());
  // Not std::stable_sort, which allocates.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return other_strides[a] != other_strides[b] ? other_strides[a] < other_strides[b] : a > b;
  });
  return packed_strides(dims, order);
}

bool have_same_strides(const Dims& dims, const Dims& strides, const Dims& other_strides) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] > 1 && strides[i] != other_strides[i]) return false;
  return true;
}

bool is_row_major(const Dims& dims, const Dims& strides) {
  uint64_t next = 1;  // as in packed_strides
  for (size_t dim = dims.size(); dim-- > 0;) {
    if (dims[dim] > 1 && strides[dim] != static_cast<int64_t>(next)) return false;
    next *= static_cast<uint64_t>(std::max<int64_t>(dims[dim], 1));
  }
  return true;
}

Dims packed_like(const Dims& dims, const Dims& other_dims, const Dims& other_strides) {
  if (is_row_major(other_dims, other_strides)) return row_major_strides(dims);
  return strides_in_order_of(dims, other_strides);
}

int64_t span_of(const Dims& dims, const Dims& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) return 0;
    last += (dims[i] - 1) * strides[i];
  }
  return last + 1;
}

bool elements_overlap(const Dims& dims, const Dims& strides) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return false;
  if (is_row_major(dims, strides)) return false;
  const std::vector<Axis> axes = moving_axes(dims, strides);
  if (axes.empty()) return false;
  if (axes.back().stride == 0) return true;
  int64_t inner_span = 1;
  bool is_nested = true;
  for (size_t i = axes.size(); i-- > 0;) {
    is_nested = is_nested && axes[i].stride >= inner_span;
    inner_span += (axes[i].extent - 1) * axes[i].stride;
  }
  return !is_nested && CollisionSearch(axes).found();
}

CanonicalLayout canonical_layout(const Dims& dims, const Dims& strides) {
  CanonicalLayout layout;
  for (const Axis& axis : moving_axes(dims, strides)) {
    // Divided, because the product may not fit.
    if (!layout.dims.empty() && layout.strides.back() / axis.extent == axis.stride &&
        layout.strides.back() % axis.extent == 0) {
      layout.dims.back() *= axis.extent;
      layout.strides.back() = axis.stride;
    } else {
      layout.dims.push_back(axis.extent);
      layout.strides.push_back(axis.stride);
    }
  }
  return layout;
}

}  // namespace warploom::ops
