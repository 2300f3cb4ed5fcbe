#include "harness/element.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace warploom::test {
namespace {

constexpr int kHalfMantissa = 10;
constexpr int kBfloat16Mantissa = 7;

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

bool is_small(DataType_t type) {
  return type == DataType_t::FP8_E4M3 || type == DataType_t::FP8_E5M2 ||
         type == DataType_t::FP8_E8M0 || type == DataType_t::FP4_E2M1;
}

// The value of a code of 8 or 4 bits, by the tables of the OCP specifications.
double decode_small(DataType_t type, int code) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kMagnitudesOfE2M1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  if (type == DataType_t::FP8_E8M0) return code == 255 ? kNan : std::pow(2.0, code - 127);
  if (type == DataType_t::FP4_E2M1)
    return code < 8 ? kMagnitudesOfE2M1[code] : -kMagnitudesOfE2M1[code - 8];
  if (code >= 128) return -decode_small(type, code - 128);
  // FP8_E5M2 is the upper half of a binary16 number.
  if (type == DataType_t::FP8_E5M2)
    return decode_float16(static_cast<uint16_t>(code << 8), kHalfMantissa);
  if (code == 127) return kNan;
  return code < 8 ? code / 512.0 : std::pow(2.0, code / 8 - 7) * (1 + code % 8 / 8.0);
}

// The nearest of all codes, the even one of two.
int encode_small(DataType_t type, double value) {
  const bool is_signed = type != DataType_t::FP8_E8M0;
  const int positive = type == DataType_t::FP4_E2M1 ? 8 : is_signed ? 128 : 256;
  if (std::isnan(value)) return positive - 1;
  const bool is_negative = is_signed && std::signbit(value);
  if (is_negative) value = -value;
  int best = 0;
  for (int code = 1; code < positive; ++code) {
    const double candidate = decode_small(type, code), so_far = decode_small(type, best);
    if (!std::isfinite(candidate)) break;
    const double gain = std::fabs(value - so_far) - std::fabs(value - candidate);
    if (std::isinf(value) || gain > 0 || (gain == 0 && code % 2 == 0)) best = code;
  }
  return best + (is_negative ? positive : 0);
}

void store_small(DataType_t type, double value, std::byte* data, int64_t index) {
  const auto code = static_cast<std::byte>(encode_small(type, value));
  std::byte& place = data[element_offset(type, index)];
  if (type != DataType_t::FP4_E2M1)
    place = code;
  else
    place =
        index % 2 == 0 ? (place & std::byte{0xf0}) | code : (place & std::byte{0x0f}) | code << 4;
}

double load_small(const std::byte* data, DataType_t type, int64_t index) {
  const int code = std::to_integer<int>(data[element_offset(type, index)]);
  if (type != DataType_t::FP4_E2M1) return decode_small(type, code);
  return decode_small(type, index % 2 == 0 ? code % 16 : code / 16);
}

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

int64_t element_offset(DataType_t type, int64_t index) {
  return type == DataType_t::FP4_E2M1 ? index / 2 : index * element_size(type);
}

void encode(double value, DataType_t type, std::byte* data, int64_t index) {
  if (is_small(type)) return store_small(type, value, data, index);
  std::byte* const element = data + element_offset(type, index);
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

double decode(const std::byte* data, DataType_t type, int64_t index) {
  if (is_small(type)) return load_small(data, type, index);
  const std::byte* const element = data + element_offset(type, index);
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
  std::byte element[8]{};
  encode(value, type, element);
  return decode(element, type);
}

bool is_floating(DataType_t type) {
  return type == DataType_t::FLOAT || type == DataType_t::DOUBLE || type == DataType_t::HALF ||
         type == DataType_t::BFLOAT16 || is_small(type);
}

}  // namespace warploom::test
