#pragma once
/// One element of any data type, to and from double. Written apart from the library, which it
/// checks.
#include <cstddef>

#include <warploom/types.h>

namespace warploom::test {

/// Bytes of one element; of FP4_E2M1, two of which share a byte, 1.
int64_t element_size(DataType_t type);
/// Where element `index` begins, in bytes.
int64_t element_offset(DataType_t type, int64_t index);
/// The element `index` of `data`. Rounds to nearest even; integers saturate, and NaN becomes 0;
/// 8-bit and 4-bit floats saturate.
void encode(double value, DataType_t type, std::byte* data, int64_t index = 0);
double decode(const std::byte* data, DataType_t type, int64_t index = 0);
/// What `value` becomes when it is stored as `type`.
double round_to(double value, DataType_t type);
bool is_floating(DataType_t type);

}  // namespace warploom::test
