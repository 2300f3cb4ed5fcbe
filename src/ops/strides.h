#pragma once
#include <cstdint>
#include <vector>

// Orders of memory. All are packed: the fastest dim has stride 1. A dim of extent 0 counts as 1.

namespace warploom::ops {

using Dims = std::vector<int64_t>;

/// The last dim fastest.
Dims row_major_strides(const Dims& dims);
/// Dim 1 fastest, then the last down to the second, dim 0 slowest. For any rank.
Dims nhwc_strides(const Dims& dims);
/// In the order of another tensor's strides; of two equal ones the later dim is faster.
Dims strides_in_order_of(const Dims& dims, const Dims& other_strides);

/// Row-major where a shape was that, else in the order of its strides.
Dims packed_like(const Dims& dims, const Dims& other_dims, const Dims& other_strides);
/// The stride of a dim of size 1 is never used, so that it may be anything.
bool have_same_strides(const Dims& dims, const Dims& strides, const Dims& other_strides);
bool is_row_major(const Dims& dims, const Dims& strides);

/// The distance in elements between the first element and the last, plus one; 0 without elements.
/// Strides are not negative.
int64_t span_of(const Dims& dims, const Dims& strides);

/// True if two elements share an address. Exact, but for layouts so interleaved that the search is
/// given up; these count as overlapping.
bool elements_overlap(const Dims& dims, const Dims& strides);

/// The layout with dims of 1 dropped, slowest first, and neighbours merged where they are one run.
/// Two tensors with equal canonical layouts hold the same addresses.
struct CanonicalLayout {
  Dims dims, strides;
  bool operator==(const CanonicalLayout&) const = default;
};
CanonicalLayout canonical_layout(const Dims& dims, const Dims& strides);

}  // namespace warploom::ops
