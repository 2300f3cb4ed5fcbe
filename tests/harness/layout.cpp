#include "harness/layout.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace warploom::test {
namespace {

// `order`: the axes, fastest first. Each step leaves `gap` elements unused.
std::vector<int64_t> packed(const std::vector<int64_t>& dims, const std::vector<size_t>& order,
                            int64_t first = 1, int64_t gap = 0) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = first;
  for (size_t axis : order) {
    strides[axis] = stride;
    // At least 1, so that the strides of an empty tensor are still strides.
    stride = stride * std::max<int64_t>(dims[axis], 1) + gap;
  }
  return strides;
}

}  // namespace

std::vector<int64_t> strides_of_layout(const std::string& layout,
                                       const std::vector<int64_t>& dims) {
  const size_t rank = dims.size();
  std::vector<size_t> forward(rank);
  std::iota(forward.begin(), forward.end(), size_t{0});
  std::vector<size_t> backward(forward.rbegin(), forward.rend());

  std::vector<size_t> channels_last = backward;
  if (rank > 2)
    std::rotate(channels_last.begin(), channels_last.end() - 2, channels_last.end() - 1);

  if (layout == "row_major") return packed(dims, backward);
  if (layout == "reversed") return packed(dims, forward);
  if (layout == "channels_last") return packed(dims, channels_last);
  if (layout == "column_major") {
    if (rank > 1) std::swap(backward[0], backward[1]);
    return packed(dims, backward);
  }
  if (layout == "padded") return packed(dims, backward, 1, 3);
  if (layout == "padded_channels_last") return packed(dims, channels_last, 1, 5);
  if (layout == "spread") return packed(dims, backward, 2);

  std::vector<int64_t> strides = packed(dims, backward);
  if (layout == "odd_ones") {
    for (size_t axis = 0; axis < rank; ++axis)
      if (dims[axis] == 1) strides[axis] = 7;
    return strides;
  }
  if (layout == "first_repeated") {
    strides.front() = 0;
    return strides;
  }
  if (layout == "last_repeated") {
    strides.back() = 0;
    return strides;
  }
  if (layout == "all_repeated") return std::vector<int64_t>(rank, 0);
  throw std::runtime_error("unknown layout '" + layout + "'");
}

}  // namespace warploom::test
