#include "base/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/float16.h"
#include "base/float8.h"

namespace warploom::base {
namespace {

template <class T>
T read(const void* data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * int64_t{sizeof(T)}, sizeof(T));
  return value;
}

template <class T>
void write(void* data, int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * int64_t{sizeof(T)}, &value, sizeof(T));
}

// FP4_E2M1: elements with an even index are the low half of a byte, odd ones the high half.
uint8_t read_code(const void* data, DataType_t type, int64_t index) {
  if (type != DataType_t::FP4_E2M1) return read<uint8_t>(data, index);
  const auto pair = read<uint8_t>(data, index / 2);
  return index % 2 == 0 ? pair & 0xf : pair >> 4;
}

void write_code(void* data, DataType_t type, int64_t index, uint8_t code) {
  if (type != DataType_t::FP4_E2M1) return write(data, index, code);
  const auto pair = read<uint8_t>(data, index / 2);
  write(data, index / 2,
        static_cast<uint8_t>(index % 2 == 0 ? (pair & 0xf0) | code : (pair & 0xf) | (code << 4)));
}

template <class Integer>
Integer saturate(int64_t value) {
  return static_cast<Integer>(std::clamp<int64_t>(value, std::numeric_limits<Integer>::min(),
                                                  std::numeric_limits<Integer>::max()));
}

template <class Number>
Number load(const void* data, DataType_t type, int64_t index) {
  auto from_float = [](auto value) -> Number {
    if constexpr (std::is_same_v<Number, int64_t>) return to_int64(static_cast<double>(value));
    return static_cast<Number>(value);
  };
  switch (type) {
    case DataType_t::FLOAT:
      return from_float(read<float>(data, index));
    case DataType_t::DOUBLE:
      return from_float(read<double>(data, index));
    case DataType_t::HALF:
      return from_float(static_cast<float>(read<half>(data, index)));
    case DataType_t::BFLOAT16:
      return from_float(static_cast<float>(read<bfloat16>(data, index)));
    case DataType_t::INT8:
      return static_cast<Number>(read<int8_t>(data, index));
    case DataType_t::UINT8:
      return static_cast<Number>(read<uint8_t>(data, index));
    case DataType_t::INT32:
      return static_cast<Number>(read<int32_t>(data, index));
    case DataType_t::INT64:
      return static_cast<Number>(read<int64_t>(data, index));
    case DataType_t::BOOLEAN:
      return static_cast<Number>(read<uint8_t>(data, index) != 0);
    case DataType_t::FP8_E4M3:
    case DataType_t::FP8_E5M2:
    case DataType_t::FP8_E8M0:
    case DataType_t::FP4_E2M1:
      return from_float(decode_small_floating(type, read_code(data, type, index)));
    default:
      return Number{};
  }
}

template <class Number>
void store(void* data, DataType_t type, int64_t index, Number value) {
  auto integer = [value] {
    if constexpr (std::is_same_v<Number, int64_t>) return value;
    return to_int64(static_cast<double>(value));
  };
  switch (type) {
    case DataType_t::FLOAT:
      return write(data, index, static_cast<float>(value));
    case DataType_t::DOUBLE:
      return write(data, index, static_cast<double>(value));
    case DataType_t::HALF:
      return write(data, index, half_from(static_cast<double>(value)));
    case DataType_t::BFLOAT16:
      return write(data, index, bfloat16_from(static_cast<double>(value)));
    case DataType_t::INT8:
      return write(data, index, saturate<int8_t>(integer()));
    case DataType_t::UINT8:
      return write(data, index, saturate<uint8_t>(integer()));
    case DataType_t::INT32:
      return write(data, index, saturate<int32_t>(integer()));
    case DataType_t::INT64:
      return write(data, index, integer());
    case DataType_t::BOOLEAN:
      return write<uint8_t>(data, index, value != Number{} ? 1 : 0);
    case DataType_t::FP8_E4M3:
    case DataType_t::FP8_E5M2:
    case DataType_t::FP8_E8M0:
    case DataType_t::FP4_E2M1:
      return write_code(data, type, index, encode_small_floating(type, static_cast<double>(value)));
    default:
      return;
  }
}

}  // namespace

double load_double(const void* data, DataType_t type, int64_t index) {
  return load<double>(data, type, index);
}

int64_t load_int64(const void* data, DataType_t type, int64_t index) {
  return load<int64_t>(data, type, index);
}

void store_double(void* data, DataType_t type, int64_t index, double value) {
  store(data, type, index, value);
}

void store_int64(void* data, DataType_t type, int64_t index, int64_t value) {
  store(data, type, index, value);
}

void copy_element(DataType_t type, const void* from, int64_t from_index, void* to,
                  int64_t to_index) {
  if (is_small_floating(type))
    return write_code(to, type, to_index, read_code(from, type, from_index));
  const int64_t bytes = detail::get_data_type_size(type);
  std::memcpy(static_cast<char*>(to) + to_index * bytes,
              static_cast<const char*>(from) + from_index * bytes, static_cast<size_t>(bytes));
}

double round_to(DataType_t type, double value) {
  double element = 0;
  store_double(&element, type, 0, value);
  return load_double(&element, type, 0);
}

int64_t to_int64(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value <= -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::nearbyint(value));
}

double to_double(const pass_by_values_t& value) {
  return std::visit(
      [](auto number) {
        if constexpr (std::is_class_v<decltype(number)>) {
          return static_cast<double>(static_cast<float>(number));
        } else {
          return static_cast<double>(number);
        }
      },
      value);
}

void store_scalar(void* data, DataType_t type, const pass_by_values_t& value) {
  if (const auto* wide = std::get_if<int64_t>(&value)) return store_int64(data, type, 0, *wide);
  store_double(data, type, 0, to_double(value));
}

}  // namespace warploom::base
