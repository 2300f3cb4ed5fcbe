#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

#include <warploom/types.h>

// Elements of every type, converted by exhaustive search or plain arithmetic in double: slow, and
// independent of the code under test.

namespace warploom::cpu {

inline int64_t element_bytes(DataType_t type) {
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

/// The value of a binary float with `exponent_bits` and `fraction_bits`.
inline double float_value(uint32_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  const int exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const double sign = (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? std::nan("") : sign * INFINITY;
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1u << fraction_bits) | fraction, exponent - bias - fraction_bits);
}

/// The nearest such float, ties to even; overflow to infinity.
inline uint32_t nearest_float(double value, int exponent_bits, int fraction_bits) {
  const uint32_t sign = std::signbit(value) ? 1u << (exponent_bits + fraction_bits) : 0;
  const uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  if (std::isnan(value)) return sign | infinity | 1u << (fraction_bits - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  int exponent = magnitude == 0.0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  // units is at most 2^(fraction_bits + 1): the sum carries into the exponent by itself.
  const double pattern =
      units + std::ldexp(static_cast<double>(exponent + bias - 1), fraction_bits);
  return sign | (pattern >= infinity ? infinity : static_cast<uint32_t>(pattern));
}

inline double saturated(double value, double low, double high) {
  if (std::isnan(value)) return 0.0;
  const double rounded = std::nearbyint(value);
  return rounded < low ? low : rounded > high ? high : rounded;
}

template <class T>
T read_as(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}
template <class T>
void write_as(void* data, T value) {
  std::memcpy(data, &value, sizeof(T));
}

inline double read_element(const void* data, DataType_t type) {
  switch (type) {
    case DataType_t::FLOAT:
      return read_as<float>(data);
    case DataType_t::DOUBLE:
      return read_as<double>(data);
    case DataType_t::HALF:
      return float_value(read_as<uint16_t>(data), 5, 10);
    case DataType_t::BFLOAT16:
      return float_value(read_as<uint16_t>(data), 8, 7);
    case DataType_t::FP8_E5M2:
      return float_value(read_as<uint8_t>(data), 5, 2);
    case DataType_t::INT8:
      return read_as<int8_t>(data);
    case DataType_t::UINT8:
      return read_as<uint8_t>(data);
    case DataType_t::INT32:
      return read_as<int32_t>(data);
    case DataType_t::INT64:
      return static_cast<double>(read_as<int64_t>(data));
    case DataType_t::BOOLEAN:
      return read_as<uint8_t>(data) != 0 ? 1.0 : 0.0;
    default:
      return std::nan("");
  }
}

inline void write_element(void* data, DataType_t type, double value) {
  switch (type) {
    case DataType_t::FLOAT:
      return write_as(data, static_cast<float>(value));
    case DataType_t::DOUBLE:
      return write_as(data, value);
    case DataType_t::HALF:
      return write_as(data, static_cast<uint16_t>(nearest_float(value, 5, 10)));
    case DataType_t::BFLOAT16:
      return write_as(data, static_cast<uint16_t>(nearest_float(value, 8, 7)));
    case DataType_t::INT8:
      return write_as(data, static_cast<int8_t>(saturated(value, -128, 127)));
    case DataType_t::UINT8:
      return write_as(data, static_cast<uint8_t>(saturated(value, 0, 255)));
    case DataType_t::INT32:
      return write_as(data, static_cast<int32_t>(saturated(value, INT32_MIN, INT32_MAX)));
    case DataType_t::INT64:
      if (std::nearbyint(value) >= 0x1p63) return write_as(data, INT64_MAX);
      return write_as(data, static_cast<int64_t>(saturated(value, -0x1p63, 0x1p63)));
    case DataType_t::BOOLEAN:
      return write_as(data, static_cast<uint8_t>(value != 0.0));
    default:
      return;
  }
}

/// A value that the type holds, of moderate size.
inline double random_value(DataType_t type, std::mt19937& random) {
  std::uniform_real_distribution<double> real(-2.0, 2.0);
  std::uniform_int_distribution<int> integer(-128, 127);
  switch (type) {
    case DataType_t::FLOAT:
    case DataType_t::DOUBLE:
    case DataType_t::HALF:
    case DataType_t::BFLOAT16:
      return real(random);
    case DataType_t::UINT8:
      return integer(random) + 128;
    case DataType_t::BOOLEAN:
      return integer(random) > 0 ? 1.0 : 0.0;
    default:
      return integer(random);
  }
}

}  // namespace warploom::cpu
