#pragma once
#include <string_view>

#include <warploom/ops/pointwise.h>

namespace warploom::ops {

/// Operands of a mode, 1 to 3; 0 for NOT_SET.
int arity(PointwiseMode_t mode);

/// The mode's row of pointwise.def, as documentation shows it.
struct PointwiseText {
  std::string_view formula, integers, not_a_number;
};
PointwiseText text_of(PointwiseMode_t mode);

}  // namespace warploom::ops
