#pragma once
/// One element of any data type, to and from double. Written apart from the library, which it
/// checks.
#include <cstddef>

#include <warploom/types.h>

namespace warploom::test {

/// Bytes of one element.
int64_t element_size(DataType_t type);
/// Rounds to nearest even; integers saturate, and NaN becomes 0.
void encode(double value, DataType_t type, std::byte* element);
double decode(const std::byte* element, DataType_t type);
/// What `value` becomes when it is stored as `type`.
double round_to(double value, DataType_t type);
bool is_floating(DataType_t type);

}  // namespace warploom::test
