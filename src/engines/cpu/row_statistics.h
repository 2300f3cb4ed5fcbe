#pragma once

#include <cmath>
#include <cstring>

#include <warploom/types.h>

namespace warploom::cpu {

/// Sums of x - shift and of its squares over elements that share a statistic, and what follows.
/// `shift` is one of the elements: its distance from the mean is at most the root of n variances,
/// so that what cancels is n rounding errors of double at most.
struct ShiftedSums {
  double shift = 0, sum = 0, squares = 0;
  bool is_centered = true;

  ShiftedSums() = default;
  /// `first`: the first element, of FLOAT or DOUBLE.
  ShiftedSums(const void* first, DataType_t type, bool centered) : is_centered(centered) {
    if (is_centered) shift = shift_of(first, type);
  }
  /// The element if it is finite.
  static double shift_of(const void* element, DataType_t type) {
    double value = 0;
    if (type == DataType_t::FLOAT) {
      float narrow = 0;
      std::memcpy(&narrow, element, sizeof narrow);
      value = static_cast<double>(narrow);
    } else {
      std::memcpy(&value, element, sizeof value);
    }
    return std::isfinite(value) ? value : 0;
  }
  /// 0 unless centered, NaN over nothing.
  double mean(double count) const { return is_centered ? shift + sum / count : 0; }
  /// Not centered: of x itself.
  double variance(double count) const {
    if (!is_centered) return squares / count;
    const double left = (squares - sum * (sum / count)) / count;
    return left < 0 ? 0 : left;  // NaN stays
  }
};

}  // namespace warploom::cpu
