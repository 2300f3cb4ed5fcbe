#pragma once
/// Strides by name.
#include <cstdint>
#include <string>
#include <vector>

namespace warploom::test {

/// Strides in elements, for dims of any rank:
/// - row_major, reversed (the first dim fastest), column_major (the last two dims swapped),
///   channels_last (dim 1 fastest, then the last ... 2, then 0: NHWC);
/// - padded, padded_channels_last: the same with gaps after every row, image and so on;
/// - spread: row-major over every second element;
/// - odd_ones: row-major, but dims of size 1 have the stride 7;
/// - first_repeated, last_repeated, all_repeated: row-major, with stride 0 in those dims.
/// Throws std::runtime_error for another name.
std::vector<int64_t> strides_of_layout(const std::string& layout, const std::vector<int64_t>& dims);

}  // namespace warploom::test
