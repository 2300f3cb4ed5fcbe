#pragma once
#include <warploom/types.h>

namespace warploom::base {

/// INT8, UINT8, INT32, INT64 and BOOLEAN.
bool is_integer(DataType_t type);
/// FLOAT, DOUBLE, HALF and BFLOAT16.
bool is_floating(DataType_t type);
/// FLOAT, HALF and BFLOAT16: types whose every value is a float's.
bool fits_float(DataType_t type);
/// What operations may compute in: one of the two kinds above.
inline bool is_computable(DataType_t type) {
  return is_integer(type) || is_floating(type);
}
/// What tensors may hold in this version: these, and the small floats of float8.h.
bool is_supported(DataType_t type);

/// Storage of so many elements, of which FP4_E2M1 has two in a byte.
int64_t bytes_of(DataType_t type, int64_t elements);

}  // namespace warploom::base
