#include "harness/element.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace warploom::test {
namespace {

// A 16-bit float with this many bits of mantissa, the rest exponent and sign.
uint16_t encode_float16(double value, int mantissa_bits) {
  const int exponent_bits = 15 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const uint16_t infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  if (std::isnan(value)) return sign | infinity | (1 << (mantissa_bits - 1));
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(value)) return sign | infinity;
  // The exponent of the format's unit in the last place at this magnitude.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias) - mantissa_bits;
  // Rounding may carry into the next binade: the sum below then carries into the exponent field.
  const double units = std::nearbyint(std::ldexp(magnitude, -exponent));
  const int field = exponent + mantissa_bits + bias;  // 1 for subnormals too
  const double bits = std::ldexp(field - 1, mantissa_bits) + units;
  return sign | (bits >= infinity ? infinity : static_cast<uint16_t>(bits));
}

double decode_float16(uint16_t bits, int mantissa_bits) {
  const int exponent_bits = 15 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  double magnitude = 0;
  if (exponent == (1 << exponent_bits) - 1)
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else
    magnitude = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

constexpr int kHalfMantissa = 10;
constexpr int kBfloat16Mantissa = 7;

template <class T>
void store(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof(T));
}

template <class T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <class T>
void store_integer(double value, std::byte* element) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return store<T>(0, element);
  const double rounded = std::nearbyint(value);
  // 2^63 is a double and INT64_MAX is not, hence >=.
  if (rounded >= static_cast<double>(Limits::max())) return store<T>(Limits::max(), element);
  if (rounded <= static_cast<double>(Limits::min())) return store<T>(Limits::min(), element);
  store<T>(static_cast<T>(rounded), element);
}

}  // namespace

int64_t element_size(DataType_t type) {
  switch (type) {
    case DataType_t::DOUBLE:
    case DataType_t::INT64:
      return 8;
    case DataType_t::FLOAT:
    case DataType_t::INT32:
      return 4;
    case DataType_t::HALF:
    case DataType_t::BFLOAT16:
      return 2;
    default:
      return 1;
  }
}

void encode(double value, DataType_t type, std::byte* element) {
  switch (type) {
    case DataType_t::DOUBLE:
      return store<double>(value, element);
    case DataType_t::FLOAT:
      return store<float>(static_cast<float>(value), element);
    case DataType_t::HALF:
      return store<uint16_t>(encode_float16(value, kHalfMantissa), element);
    case DataType_t::BFLOAT16:
      return store<uint16_t>(encode_float16(value, kBfloat16Mantissa), element);
    case DataType_t::INT64:
      return store_integer<int64_t>(value, element);
    case DataType_t::INT32:
      return store_integer<int32_t>(value, element);
    case DataType_t::INT8:
      return store_integer<int8_t>(value, element);
    default:  // UINT8, and BOOLEAN: a byte in which any value but 0 is true
      return store_integer<uint8_t>(value, element);
  }
}

double decode(const std::byte* element, DataType_t type) {
  switch (type) {
    case DataType_t::DOUBLE:
      return load<double>(element);
    case DataType_t::FLOAT:
      return load<float>(element);
    case DataType_t::HALF:
      return decode_float16(load<uint16_t>(element), kHalfMantissa);
    case DataType_t::BFLOAT16:
      return decode_float16(load<uint16_t>(element), kBfloat16Mantissa);
    case DataType_t::INT64:
      return static_cast<double>(load<int64_t>(element));
    case DataType_t::INT32:
      return load<int32_t>(element);
    case DataType_t::INT8:
      return load<int8_t>(element);
    default:
      return load<uint8_t>(element);
  }
}

double round_to(double value, DataType_t type) {
  std::byte element[8];
  encode(value, type, element);
  return decode(element, type);
}

bool is_floating(DataType_t type) {
  return type == DataType_t::FLOAT || type == DataType_t::DOUBLE || type == DataType_t::HALF ||
         type == DataType_t::BFLOAT16;
}

}  // namespace warploom::test
