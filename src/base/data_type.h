#pragma once
#include <warploom/types.h>

namespace warploom::base {

/// INT8, UINT8, INT32, INT64 and BOOLEAN.
bool is_integer(DataType_t type);
/// FLOAT, DOUBLE, HALF and BFLOAT16.
bool is_floating(DataType_t type);
/// FLOAT, HALF and BFLOAT16: types whose every value is a float's.
bool fits_float(DataType_t type);
/// What tensors may hold in this version: one of the two kinds above.
inline bool is_supported(DataType_t type) {
  return is_integer(type) || is_floating(type);
}

}  // namespace warploom::base
