#include "base/element.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "base/data_type.h"
#include "base/float16.h"

namespace warploom {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The value of a binary16 number from its definition.
double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? kNan : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

half half_of_bits(int bits) {
  half value;
  value.bits = static_cast<uint16_t>(bits);
  return value;
}

TEST(Half, EveryValueIsReadAsDefined) {
  for (int bits = 0; bits < 65536; ++bits) {
    const double expected = half_value(static_cast<uint16_t>(bits));
    const auto found = static_cast<float>(half_of_bits(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(found)) << bits;
    } else {
      EXPECT_EQ(found, expected) << bits;
      EXPECT_EQ(std::signbit(found), (bits & 0x8000) != 0) << bits;
    }
  }
}

TEST(Half, EveryValueSurvivesTheWayThroughFloat) {
  for (int bits = 0; bits < 65536; ++bits) {
    const half again(static_cast<float>(half_of_bits(bits)));
    if (std::isnan(half_value(static_cast<uint16_t>(bits))))
      EXPECT_TRUE(std::isnan(static_cast<float>(again))) << bits;
    else
      EXPECT_EQ(again.bits, bits);
  }
}

// Between every two neighbours: the middle goes to the even one, all else to the nearer.
TEST(Half, RoundsToNearestEvenOnce) {
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const double low = half_value(static_cast<uint16_t>(bits));
    const double high = half_value(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    const int even = bits % 2 == 0 ? bits : bits + 1;
    EXPECT_EQ(half(static_cast<float>(middle)).bits, even);
    EXPECT_EQ(base::half_from(middle).bits, even);
    // So close to the middle that a float cannot tell.
    EXPECT_EQ(base::half_from(std::nextafter(middle, low)).bits, bits);
    EXPECT_EQ(base::half_from(std::nextafter(middle, high)).bits, bits + 1);
    EXPECT_EQ(base::half_from(-std::nextafter(middle, high)).bits, (bits + 1) | 0x8000);
  }
}

TEST(Half, OverflowAndSpecialValues) {
  EXPECT_EQ(half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(base::half_from(std::nextafter(65520.0, 0)).bits, 0x7bff);
  EXPECT_EQ(half(-1e30f).bits, 0xfc00);
  EXPECT_EQ(base::half_from(1e300).bits, 0x7c00);
  EXPECT_EQ(half(-0.0f).bits, 0x8000);
  EXPECT_EQ(half(0x1p-26f).bits, 0);
  EXPECT_EQ(half(0x1p-25f).bits, 0);
  EXPECT_EQ(half(0x1.8p-25f).bits, 1);
  EXPECT_TRUE(std::isnan(static_cast<float>(half(std::bit_cast<float>(0x7f800001u)))));
}

TEST(Bfloat16, EveryValueSurvivesAndMiddlesGoToTheEvenOne) {
  for (int bits = 0; bits < 65536; ++bits) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    bfloat16 exact;
    exact.bits = static_cast<uint16_t>(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(value)))) << bits;
      continue;
    }
    EXPECT_EQ(static_cast<float>(exact), value);
    EXPECT_EQ(bfloat16(value).bits, bits);
    if ((bits & 0x7fff) >= 0x7f7f) continue;
    const float middle = std::bit_cast<float>((static_cast<uint32_t>(bits) << 16) | 0x8000u);
    EXPECT_EQ(bfloat16(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    const double beyond = std::nextafter(static_cast<double>(middle), std::copysign(1e300, middle));
    EXPECT_EQ(base::bfloat16_from(beyond).bits, bits + 1);
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0xffffffffu)))));
}

TEST(Element, IntegersRoundHalfEvenAndSaturate) {
  struct Case {
    DataType_t type;
    double value, expected;
  };
  const Case cases[] = {
      {DataType_t::INT8, 0.5, 0},
      {DataType_t::INT8, 1.5, 2},
      {DataType_t::INT8, -2.5, -2},
      {DataType_t::INT8, 127.5, 127},
      {DataType_t::INT8, -1e9, -128},
      {DataType_t::INT8, kNan, 0},
      {DataType_t::UINT8, -1, 0},
      {DataType_t::UINT8, 255.5, 255},
      {DataType_t::UINT8, 254.5, 254},
      {DataType_t::INT32, 3e9, 2147483647},
      {DataType_t::INT32, -kInfinity, -2147483648.0},
      {DataType_t::INT32, kNan, 0},
      {DataType_t::INT64, 1e30, 0x1p63},
      {DataType_t::INT64, 4.5, 4},
      {DataType_t::INT64, kNan, 0},
      {DataType_t::BOOLEAN, 0.25, 1},
      {DataType_t::BOOLEAN, -0.0, 0},
      {DataType_t::BOOLEAN, kNan, 1},
      {DataType_t::BOOLEAN, -7, 1},
      {DataType_t::HALF, 1e6, kInfinity},
      {DataType_t::FLOAT, 1e300, kInfinity},
      {DataType_t::DOUBLE, 0.1, 0.1},
      {DataType_t::FLOAT, 0.1, 0.1f},
      {DataType_t::BFLOAT16, 257, 256},
      {DataType_t::BFLOAT16, 259, 260},
  };
  for (const Case& c : cases)
    EXPECT_EQ(base::round_to(c.type, c.value), c.expected) << to_string(c.type) << " " << c.value;
}

TEST(Element, Int64StaysExact) {
  const int64_t values[] = {INT64_MAX, INT64_MIN, (int64_t{1} << 53) + 1, -1};
  int64_t stored[4];
  for (int i = 0; i < 4; ++i) {
    base::store_int64(stored, DataType_t::INT64, i, values[i]);
    EXPECT_EQ(base::load_int64(stored, DataType_t::INT64, i), values[i]);
  }
  int8_t narrow[2];
  base::store_int64(narrow, DataType_t::INT8, 1, 1000);
  EXPECT_EQ(narrow[1], 127);
  uint8_t boolean = 0;
  base::store_int64(&boolean, DataType_t::BOOLEAN, 0, INT64_MIN);
  EXPECT_EQ(boolean, 1);
}

TEST(Element, BooleansAreReadAsZeroOrOneAndDataNeedNotBeAligned) {
  const uint8_t bytes[] = {0, 1, 2, 255};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(base::load_double(bytes, DataType_t::BOOLEAN, i), i == 0 ? 0 : 1);
    EXPECT_EQ(base::load_int64(bytes, DataType_t::BOOLEAN, i), i == 0 ? 0 : 1);
  }
  unsigned char memory[32];
  base::store_double(memory + 1, DataType_t::DOUBLE, 1, 2.5);
  EXPECT_EQ(base::load_double(memory + 1, DataType_t::DOUBLE, 1), 2.5);
}

TEST(Element, StoredScalars) {
  int64_t wide = 0;
  base::store_scalar(&wide, DataType_t::INT64, pass_by_values_t(INT64_MAX));
  EXPECT_EQ(wide, INT64_MAX);
  uint16_t bits = 0;
  base::store_scalar(&bits, DataType_t::HALF, pass_by_values_t(half(1.5f)));
  EXPECT_EQ(bits, 0x3e00);
  EXPECT_EQ(base::to_double(pass_by_values_t(bfloat16(-2.0f))), -2.0);
  EXPECT_EQ(base::to_double(pass_by_values_t(int32_t{7})), 7.0);
}

TEST(DataType, Sizes) {
  EXPECT_EQ(detail::get_data_type_size(DataType_t::FLOAT), 4);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::DOUBLE), 8);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::HALF), 2);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::BFLOAT16), 2);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::INT8), 1);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::UINT8), 1);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::INT32), 4);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::INT64), 8);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::BOOLEAN), 1);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::FP4_E2M1), 0);
  EXPECT_EQ(detail::get_data_type_size(DataType_t::NOT_SET), 0);
  EXPECT_EQ(detail::get_element_size_in_bits(DataType_t::INT4), 4);
  EXPECT_EQ(detail::get_element_size_in_bits(DataType_t::BOOLEAN), 8);
  EXPECT_TRUE(base::is_integer(DataType_t::BOOLEAN));
  EXPECT_TRUE(base::is_supported(DataType_t::FP8_E4M3));
  EXPECT_FALSE(base::is_computable(DataType_t::FP8_E4M3));
  EXPECT_FALSE(base::is_supported(DataType_t::INT4));
}

TEST(EnumNames, GoBothWays) {
  EXPECT_EQ(to_string(DataType_t::BFLOAT16), "BFLOAT16");
  EXPECT_EQ(to_string(PointwiseMode_t::RECIPROCAL), "RECIPROCAL");
  EXPECT_EQ(to_string(static_cast<DataType_t>(999)), "?");
  auto mode = ReductionMode_t::ADD;
  EXPECT_TRUE(from_string("MUL_NO_ZEROS", mode));
  EXPECT_EQ(mode, ReductionMode_t::MUL_NO_ZEROS);
  EXPECT_FALSE(from_string("mul", mode));
  EXPECT_EQ(mode, ReductionMode_t::MUL_NO_ZEROS);
  auto knob = KnobType_t::NOT_SET;
  EXPECT_TRUE(from_string("WARP_SPEC_CFG", knob));
}

TEST(Error, PrintsCodeAndMessage) {
  std::ostringstream stream;
  stream << error_t(error_code_t::INVALID_VALUE, "why") << "|" << error_t();
  EXPECT_EQ(stream.str(), "INVALID_VALUE: why|OK");
  EXPECT_EQ(to_string(error_code_t::NVRTC_COMPILATION_FAILED), "NVRTC_COMPILATION_FAILED");
}

}  // namespace
}  // namespace warploom
