#include "base/data_type.h"

#include "base/float8.h"

namespace warploom {
namespace detail {

int64_t get_element_size_in_bits(DataType_t type) {
  switch (type) {
    case DataType_t::INT4:
    case DataType_t::FP4_E2M1:
      return 4;
    case DataType_t::INT8:
    case DataType_t::UINT8:
    case DataType_t::BOOLEAN:
    case DataType_t::FP8_E4M3:
    case DataType_t::FP8_E5M2:
    case DataType_t::FP8_E8M0:
      return 8;
    case DataType_t::HALF:
    case DataType_t::BFLOAT16:
      return 16;
    case DataType_t::FLOAT:
    case DataType_t::INT32:
    case DataType_t::INT8x4:
    case DataType_t::UINT8x4:
      return 32;
    case DataType_t::DOUBLE:
    case DataType_t::INT64:
    case DataType_t::COMPLEX_FP32:
      return 64;
    case DataType_t::COMPLEX_FP64:
      return 128;
    case DataType_t::INT8x32:
      return 256;
    case DataType_t::NOT_SET:
    case DataType_t::FAST_FLOAT_FOR_FP8:
      return 0;
  }
  return 0;
}

int64_t get_data_type_size(DataType_t type) {
  return get_element_size_in_bits(type) / 8;
}

}  // namespace detail

namespace base {

bool is_integer(DataType_t type) {
  switch (type) {
    case DataType_t::INT8:
    case DataType_t::UINT8:
    case DataType_t::INT32:
    case DataType_t::INT64:
    case DataType_t::BOOLEAN:
      return true;
    default:
      return false;
  }
}

bool fits_float(DataType_t type) {
  return type == DataType_t::FLOAT || type == DataType_t::HALF || type == DataType_t::BFLOAT16;
}

bool is_floating(DataType_t type) {
  switch (type) {
    case DataType_t::FLOAT:
    case DataType_t::DOUBLE:
    case DataType_t::HALF:
    case DataType_t::BFLOAT16:
      return true;
    default:
      return false;
  }
}

bool is_supported(DataType_t type) {
  return is_computable(type) || is_small_floating(type);
}

int64_t bytes_of(DataType_t type, int64_t elements) {
  const int64_t bits = detail::get_element_size_in_bits(type);
  return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

}  // namespace base
}  // namespace warploom
