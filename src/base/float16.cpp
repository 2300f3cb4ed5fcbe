#include "base/float16.h"

#include <bit>
#include <cmath>

namespace warploom {
namespace {

constexpr uint32_t kFloatSign = 0x80000000u;
constexpr uint32_t kFloatInfinity = 0x7f800000u;

// The 16-bit float whose bits are `kept >> shift`, rounded to nearest even by what is shifted out.
uint32_t shift_to_nearest_even(uint32_t bits, int shift) {
  uint32_t half_way = (1u << (shift - 1)) - 1;
  return (bits + half_way + ((bits >> shift) & 1u)) >> shift;
}

// The float next to `value` towards zero with its last bit set if that loses anything. Rounding
// such a float to a format at least two bits narrower gives what rounding `value` itself would
// give.
float round_to_odd(double value) {
  auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

}  // namespace

half::half(float value) {
  const auto all_bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((all_bits & kFloatSign) >> 16);
  const uint32_t magnitude = all_bits & ~kFloatSign;
  // Exponents in float's bits: 113 is the least of a normal half, 143 is its infinity.
  if (magnitude > kFloatInfinity) {
    bits = static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  } else if (magnitude >= (143u << 23)) {
    bits = sign | 0x7c00u;
  } else if (magnitude >= (113u << 23)) {
    // Rounding may carry into the exponent, up to infinity, as it should.
    bits = static_cast<uint16_t>(sign | shift_to_nearest_even(magnitude - (112u << 23), 13));
  } else {
    // A denormal is a multiple of 2^-24; scaling by a power of two is exact and the sum with 2^23
    // rounds to an integer.
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p24f;
    const float rounded = scaled + 0x1p23f;
    bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) & 0x7ffu));
  }
}

half::operator float() const {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | kFloatInfinity | (fraction << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

bfloat16::bfloat16(float value) {
  const auto all_bits = std::bit_cast<uint32_t>(value);
  if ((all_bits & ~kFloatSign) > kFloatInfinity) {
    // A NaN whose payload lies in the lost half must not become infinity.
    bits = static_cast<uint16_t>((all_bits >> 16) | 0x40u);
  } else {
    bits = static_cast<uint16_t>(shift_to_nearest_even(all_bits, 16));
  }
}

bfloat16::operator float() const {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

namespace base {

half half_from(double value) {
  return {round_to_odd(value)};
}
bfloat16 bfloat16_from(double value) {
  return {round_to_odd(value)};
}

}  // namespace base
}  // namespace warploom
