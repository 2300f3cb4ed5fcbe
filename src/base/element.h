#pragma once
#include <cstdint>

#include <warploom/tensor.h>

// One element of a tensor in memory, of any supported data type (data_type.h). `index` counts
// elements from `data`, which need not be aligned.
//
// What is stored is rounded once: floats to nearest even; integers to nearest even with saturation,
// NaN to 0; BOOLEAN to 1 unless the value is zero (NaN is not zero); small floats as float8.h says.
// A BOOLEAN is read as 0 or 1, whatever non-zero byte is there. FP4_E2M1 has two elements in a
// byte, the first in its low half.

namespace warploom::base {

double load_double(const void* data, DataType_t type, int64_t index);
/// Exact for integers; floats as `to_int64`.
int64_t load_int64(const void* data, DataType_t type, int64_t index);

void store_double(void* data, DataType_t type, int64_t index, double value);
void store_int64(void* data, DataType_t type, int64_t index, int64_t value);

/// The same bits at another place of the same type.
void copy_element(DataType_t type, const void* from, int64_t from_index, void* to,
                  int64_t to_index);

/// The nearest value that `type` can hold, by the same rules.
double round_to(DataType_t type, double value);
/// Nearest even, saturated; 0 for NaN.
int64_t to_int64(double value);

double to_double(const pass_by_values_t& value);
/// Writes the scalar as an element of `type`.
void store_scalar(void* data, DataType_t type, const pass_by_values_t& value);

}  // namespace warploom::base
