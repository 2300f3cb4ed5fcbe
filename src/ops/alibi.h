#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace warploom::ops {

/// The slope of head `head` of `heads` of Press, Smith and Lewis, "Train short, test long"
/// (2022): a geometric series that begins and ends with the same ratio 2^(-8/n) for a power of two
/// n. Other numbers of heads take those of the next lower power of two, then every other slope of
/// twice as many.
inline double alibi_slope(int64_t head, int64_t heads) {
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  const auto step = -8.0 / static_cast<double>(power);
  if (head < power) return std::exp2(step * static_cast<double>(head + 1));
  return std::exp2(step / 2 * static_cast<double>(2 * (head - power) + 1));
}

}  // namespace warploom::ops
