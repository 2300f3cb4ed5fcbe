#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include <warploom/ops/attention.h>

namespace warploom::ops {

/// A bit of a block mask stands for so many queries and keys.
inline constexpr int64_t kMaskedBlock = 128;

/// Which keys a query sees, in one batch. All masks of an attention are one interval of keys for
/// each row, and rows at or beyond `rows` see none.
struct AttentionMask {
  int64_t rows = 0;   ///< queries in use: the batch's length under a padding mask, else all
  int64_t keys = 0;   ///< keys in use, likewise
  int64_t shift = 0;  ///< BOTTOM_RIGHT: keys - rows
  std::optional<int64_t> left_bound, right_bound;

  /// `query_length` and `key_length` are the batch's under a padding mask (any value: they are
  /// clamped to 0 and the extent), and the extents themselves without one.
  template <class Attention>
  AttentionMask(const Attention& attention, int64_t queries, int64_t all_keys, int64_t query_length,
                int64_t key_length)
      : rows(std::clamp<int64_t>(query_length, 0, queries)),
        keys(std::clamp<int64_t>(key_length, 0, all_keys)),
        shift(attention.get_diagonal_alignment() == DiagonalAlignment_t::BOTTOM_RIGHT ? keys - rows
                                                                                      : 0),
        left_bound(attention.get_left_bound()),
        right_bound(attention.get_right_bound()) {}

  /// Row i sees keys first_key(i) <= j < end_key(i); none if that is empty.
  /// Left bound L: j > i + shift - L. Right bound R: j <= i + shift + R.
  int64_t first_key(int64_t row) const {
    return left_bound ? std::max<int64_t>(row + shift - *left_bound + 1, 0) : 0;
  }
  int64_t end_key(int64_t row) const {
    if (row >= rows) return 0;
    return right_bound ? std::min(row + shift + *right_bound + 1, keys) : keys;
  }
};

}  // namespace warploom::ops
