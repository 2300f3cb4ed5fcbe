#include "base/float8.h"

#include <algorithm>
#include <cmath>

namespace warploom::base {
namespace {

struct Format {
  int exponent_bits, mantissa_bits, bias;
  uint8_t greatest;  // the code of the greatest finite number
  uint8_t nan;       // the code that NaN is stored as
};

Format format_of(DataType_t type) {
  switch (type) {
    case DataType_t::FP8_E4M3:
      return {4, 3, 7, 0x7e, 0x7f};
    case DataType_t::FP8_E5M2:
      return {5, 2, 15, 0x7b, 0x7f};
    case DataType_t::FP4_E2M1:
      return {2, 1, 1, 0x7, 0x7};
    default:
      return {8, 0, 127, 0xfe, 0xff};
  }
}

// A code without its sign, which all formats but FP8_E8M0 have above these bits. FP8_E8M0 has no
// zero and no subnormals: code 0 is 2^-127.
double magnitude(const Format& format, DataType_t type, uint8_t code) {
  if (type == DataType_t::FP8_E8M0) return std::ldexp(1.0, code - format.bias);
  const int exponent = code >> format.mantissa_bits;
  const int fraction = code & ((1 << format.mantissa_bits) - 1);
  const int hidden = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  return std::ldexp(hidden + fraction, std::max(exponent, 1) - format.bias - format.mantissa_bits);
}

uint8_t encode_magnitude(const Format& format, double value) {
  if (value == 0) return 0;
  int exponent = 0;
  std::frexp(value, &exponent);  // value in [2^(exponent - 1), 2^exponent)
  // Codes are the multiples of `unit` in order, so a carry out of the mantissa lands where it
  // should.
  const int binade = std::max(exponent - 1 + format.bias, 1);
  const double unit = std::ldexp(1.0, binade - format.bias - format.mantissa_bits);
  const double steps = std::nearbyint(value / unit) + (binade - 1) * (1 << format.mantissa_bits);
  return static_cast<uint8_t>(std::min<double>(steps, format.greatest));
}

// The nearest power of two; halfway between two of them the one with the even code.
uint8_t encode_power(const Format& format, double value) {
  if (!(value > 0x1p-127)) return 0;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  const int below = exponent - 1 + format.bias;
  const bool is_even = below % 2 == 0;
  const bool rounds_up = fraction > 0.75 || (fraction == 0.75 && !is_even);
  return static_cast<uint8_t>(std::min<int>(below + rounds_up, format.greatest));
}

}  // namespace

bool is_small_floating(DataType_t type) {
  switch (type) {
    case DataType_t::FP8_E4M3:
    case DataType_t::FP8_E5M2:
    case DataType_t::FP8_E8M0:
    case DataType_t::FP4_E2M1:
      return true;
    default:
      return false;
  }
}

double decode_small_floating(DataType_t type, uint8_t bits) {
  const Format format = format_of(type);
  if (type == DataType_t::FP8_E8M0) return bits == format.nan ? NAN : magnitude(format, type, bits);
  const uint8_t sign = static_cast<uint8_t>(1 << (format.exponent_bits + format.mantissa_bits));
  const uint8_t code = bits & (sign - 1);
  double value = 0;
  if (code <= format.greatest)
    value = magnitude(format, type, code);
  else
    value = type == DataType_t::FP8_E5M2 && code == format.greatest + 1 ? INFINITY : NAN;
  return (bits & sign) != 0 ? -value : value;
}

uint8_t encode_small_floating(DataType_t type, double value) {
  const Format format = format_of(type);
  if (std::isnan(value)) return format.nan;
  if (std::isinf(value) && value > 0) return format.greatest;
  if (type == DataType_t::FP8_E8M0) return encode_power(format, value);
  const uint8_t code =
      std::isinf(value) ? format.greatest : encode_magnitude(format, std::fabs(value));
  const int sign = std::signbit(value) ? 1 << (format.exponent_bits + format.mantissa_bits) : 0;
  return static_cast<uint8_t>(code | sign);
}

double greatest(DataType_t type) {
  return decode_small_floating(type, format_of(type).greatest);
}

double round_up_to_power_of_two(double value) {
  if (!std::isfinite(value) || value <= 0) return value;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return fraction == 0.5 ? value : std::ldexp(1.0, exponent);
}

}  // namespace warploom::base
