#pragma once
#include <warploom/types.h>

namespace warploom::base {

/// Rounded once. (By way of float, a value could be rounded twice: first to a tie, then the wrong
/// way.)
half half_from(double value);
bfloat16 bfloat16_from(double value);

}  // namespace warploom::base
