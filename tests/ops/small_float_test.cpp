#include "base/float8.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/data_type.h"
#include "base/element.h"

namespace warploom {
namespace {

using enum DataType_t;
using base::decode_small_floating;
using base::encode_small_floating;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double round_e4m3(double value) {
  return base::round_to(FP8_E4M3, value);
}

// B124
TEST(SmallFloat, E4M3SaturatesAndRoundsHalfToEven) {
  for (const auto& [value, expected] : {std::pair{448., 448.},
                                        {464., 448.},
                                        {465., 448.},
                                        {1000., 448.},
                                        {-1000., -448.},
                                        {17., 16.},
                                        {19., 20.},
                                        {304., 320.},
                                        {300., 288.},
                                        {kInfinity, 448.},
                                        {-kInfinity, -448.},
                                        {0x1p-9, 0x1p-9},
                                        {0x1p-10, 0.},
                                        {0x1.8p-10, 0x1p-9},
                                        {0x1.8p-9, 0x1p-8},
                                        {0., 0.}})
    EXPECT_EQ(round_e4m3(value), expected) << value;
  EXPECT_TRUE(std::isnan(round_e4m3(kNan)));
  EXPECT_EQ(encode_small_floating(FP8_E4M3, kNan), 0x7f);
  EXPECT_EQ(encode_small_floating(FP8_E4M3, -0.0), 0x80);
  EXPECT_TRUE(std::isnan(decode_small_floating(FP8_E4M3, 0xff)));
}

TEST(SmallFloat, E5M2IsTheUpperHalfOfABinary16) {
  for (int code = 0; code < 256; ++code) {
    half as_half;
    as_half.bits = static_cast<uint16_t>(code << 8);
    const auto expected = static_cast<double>(static_cast<float>(as_half));
    const double found = decode_small_floating(FP8_E5M2, static_cast<uint8_t>(code));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(found)) << code;
    else
      EXPECT_EQ(found, expected) << code;
  }
  EXPECT_EQ(base::round_to(FP8_E5M2, 1e9), 57344);
  EXPECT_EQ(base::round_to(FP8_E5M2, kInfinity), 57344);
  EXPECT_TRUE(std::isnan(base::round_to(FP8_E5M2, kNan)));
  EXPECT_EQ(encode_small_floating(FP8_E5M2, kNan), 0x7f);
}

TEST(SmallFloat, E2M1HasSixteenValues) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int code = 0; code < 8; ++code) {
    EXPECT_EQ(decode_small_floating(FP4_E2M1, static_cast<uint8_t>(code)), values[code]);
    EXPECT_EQ(decode_small_floating(FP4_E2M1, static_cast<uint8_t>(code + 8)), -values[code]);
  }
  for (const auto& [value, expected] : {std::pair{0.25, 0.},
                                        {0.75, 1.},
                                        {1.25, 1.},
                                        {1.75, 2.},
                                        {2.5, 2.},
                                        {3.5, 4.},
                                        {5., 4.},
                                        {5.1, 6.},
                                        {100., 6.},
                                        {-kInfinity, -6.},
                                        {kNan, 6.}})
    EXPECT_EQ(base::round_to(FP4_E2M1, value), expected) << value;
}

TEST(SmallFloat, E8M0HoldsPowersOfTwo) {
  for (int code = 0; code < 255; ++code)
    EXPECT_EQ(decode_small_floating(FP8_E8M0, static_cast<uint8_t>(code)),
              std::ldexp(1.0, code - 127));
  EXPECT_TRUE(std::isnan(decode_small_floating(FP8_E8M0, 0xff)));
  // Halfway between 2 (code 128) and 4 (129); between 4 and 8.
  for (const auto& [value, expected] : {std::pair{3., 2.},
                                        {3.1, 4.},
                                        {6., 8.},
                                        {5.9, 4.},
                                        {0., 0x1p-127},
                                        {-5., 0x1p-127},
                                        {1e300, 0x1p127},
                                        {kInfinity, 0x1p127},
                                        {0x1.7p-127, 0x1p-127},
                                        {0x1.9p-127, 0x1p-126}})
    EXPECT_EQ(base::round_to(FP8_E8M0, value), expected) << value;
  EXPECT_TRUE(std::isnan(base::round_to(FP8_E8M0, kNan)));
}

// Every code survives; between two neighbours the middle goes to the even code, all else to the
// nearer.
TEST(SmallFloat, RoundsToNearestEvenOnce) {
  for (const auto& [type, last] :
       {std::pair{FP8_E4M3, 0x7e}, {FP8_E5M2, 0x7b}, {FP4_E2M1, 7}, {FP8_E8M0, 0xfe}}) {
    for (int code = 0; code < last; ++code) {
      const double low = decode_small_floating(type, static_cast<uint8_t>(code));
      const double high = decode_small_floating(type, static_cast<uint8_t>(code + 1));
      const double middle = (low + high) / 2;
      EXPECT_EQ(encode_small_floating(type, low), code);
      EXPECT_EQ(encode_small_floating(type, middle), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(encode_small_floating(type, std::nextafter(middle, low)), code);
      EXPECT_EQ(encode_small_floating(type, std::nextafter(middle, high)), code + 1);
    }
    EXPECT_EQ(base::greatest(type), decode_small_floating(type, static_cast<uint8_t>(last)));
  }
}

TEST(SmallFloat, TwoElementsOfE2M1ShareAByte) {
  std::vector<uint8_t> bytes(3, 0xff);
  const double values[] = {1, -0.5, 6, 0, 3};
  for (int64_t i = 0; i < 5; ++i) base::store_double(bytes.data(), FP4_E2M1, i, values[i]);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0x92, 0x07, 0xf5}));
  for (int64_t i = 0; i < 5; ++i)
    EXPECT_EQ(base::load_double(bytes.data(), FP4_E2M1, i), values[i]);
  EXPECT_EQ(base::bytes_of(FP4_E2M1, 5), 3);
  EXPECT_EQ(base::bytes_of(FP4_E2M1, 6), 3);
  EXPECT_EQ(base::bytes_of(FP8_E4M3, 5), 5);
  EXPECT_EQ(base::bytes_of(DOUBLE, 5), 40);
}

TEST(SmallFloat, PowersOfTwoAbove) {
  EXPECT_EQ(base::round_up_to_power_of_two(1), 1);
  EXPECT_EQ(base::round_up_to_power_of_two(std::nextafter(1.0, 2)), 2);
  EXPECT_EQ(base::round_up_to_power_of_two(0.3), 0.5);
  EXPECT_EQ(base::round_up_to_power_of_two(0), 0);
  EXPECT_EQ(base::round_up_to_power_of_two(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(base::round_up_to_power_of_two(kNan)));
}

}  // namespace
}  // namespace warploom
