#pragma once

#include <cstdint>

#include <warploom/types.h>

namespace warploom::cpu {

/// Whether any of n elements is NaN or infinite: a product with zero would not be zero. FLOAT,
/// DOUBLE and BFLOAT16; other types have no such values here.
bool has_special_values(const void* values, DataType_t type, int64_t n);

}  // namespace warploom::cpu
