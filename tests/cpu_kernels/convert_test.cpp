#include <cmath>
#include <limits>
#include <random>

#include "base/float8.h"
#include "cpu_kernels/elements_reference.h"
#include "cpu_kernels/guarded.h"
#include "cpu_kernels/levels.h"

namespace warploom::cpu {
namespace {

class ConvertTest : public KernelTest {};

constexpr DataType_t kTypes[] = {DataType_t::FLOAT, DataType_t::DOUBLE,   DataType_t::HALF,
                                 DataType_t::INT8,  DataType_t::UINT8,    DataType_t::INT32,
                                 DataType_t::INT64, DataType_t::BFLOAT16, DataType_t::BOOLEAN};

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Every bit pattern of the 16-bit floats and all bytes.
TEST_P(ConvertTest, EveryValueIsRead) {
  for (DataType_t type : {DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::INT8,
                          DataType_t::UINT8, DataType_t::BOOLEAN, DataType_t::FP8_E5M2}) {
    const int64_t bytes = element_bytes(type), count = bytes == 2 ? 65536 : 256;
    std::vector<uint8_t> source(static_cast<size_t>(count * bytes));
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(source.data() + i * bytes, &i, static_cast<size_t>(bytes));
    }
    std::vector<float> as_float(static_cast<size_t>(count));
    table().convert(source.data(), type, 1, as_float.data(), DataType_t::FLOAT, 1, count);
    for (int64_t i = 0; i < count; ++i) {
      const double expected = read_element(source.data() + i * bytes, type);
      ASSERT_TRUE(same(as_float[static_cast<size_t>(i)], expected)) << to_string(type) << " " << i;
    }
  }
}

// Around every boundary between two values of the 16-bit types, from float and from double (where
// rounding to float on the way would break ties that are none).
TEST_P(ConvertTest, RoundsOnceToNearestEven) {
  for (DataType_t type : {DataType_t::HALF, DataType_t::BFLOAT16}) {
    std::vector<double> values;
    for (uint32_t i = 0; i < 65535; ++i) {
      const double low = read_element(&i, type);
      const uint32_t next = i + 1;
      const double high = read_element(&next, type);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      for (double v :
           {low, middle, std::nextafter(middle, INFINITY), std::nextafter(middle, -INFINITY)}) {
        values.push_back(v);
      }
    }
    for (double v :
         {65519.0, 65520.0, 65519.99999999, 1e300, -1e300, 0x1p-25, 0x1.0000001p-25, 0x1p-26,
          -0x1p-149, 1e-300, 0.0, -0.0, double{INFINITY}, -double{INFINITY}, std::nan("")}) {
      values.push_back(v);
    }
    std::vector<uint16_t> rounded(values.size());
    table().convert(values.data(), DataType_t::DOUBLE, 1, rounded.data(), type, 1,
                    static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t expected = 0;
      write_element(&expected, type, values[i]);
      ASSERT_TRUE(same(read_element(&rounded[i], type), read_element(&expected, type)))
          << to_string(type) << " of " << values[i];
    }
    std::vector<float> floats(values.begin(), values.end());
    table().convert(floats.data(), DataType_t::FLOAT, 1, rounded.data(), type, 1,
                    static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t expected = 0;
      write_element(&expected, type, floats[i]);
      ASSERT_TRUE(same(read_element(&rounded[i], type), read_element(&expected, type)))
          << to_string(type) << " of " << floats[i];
    }
  }
}

// Bit for bit what base/float8.h says, which tests/ops/small_float_test.cpp checks.
TEST_P(ConvertTest, EightBitFloats) {
  for (DataType_t type : {DataType_t::FP8_E4M3, DataType_t::FP8_E5M2, DataType_t::FP8_E8M0}) {
    std::vector<uint8_t> codes(256);
    for (size_t i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(i);
    std::vector<double> decoded(256), values{0.0, -0.0, 1e300, -1e300, 1e-300, 0x1p-149};
    table().convert(codes.data(), type, 1, decoded.data(), DataType_t::DOUBLE, 1, 256);
    for (size_t i = 0; i < 256; ++i)
      ASSERT_TRUE(same(decoded[i], base::decode_small_floating(type, codes[i]))) << i;
    for (size_t i = 0; i + 1 < 256; ++i) {
      const double middle = decoded[i] + (decoded[i + 1] - decoded[i]) / 2;
      for (double v : {decoded[i], middle, std::nextafter(middle, INFINITY),
                       std::nextafter(middle, -INFINITY)})
        values.push_back(v);
    }
    for (double v : {double{INFINITY}, -double{INFINITY}, std::nan("")}) values.push_back(v);
    const auto count = static_cast<int64_t>(values.size());
    std::vector<uint8_t> encoded(values.size());
    table().convert(values.data(), DataType_t::DOUBLE, 1, encoded.data(), type, 1, count);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(encoded[i], base::encode_small_floating(type, values[i])) << values[i];
    const std::vector<float> floats(values.begin(), values.end());
    table().convert(floats.data(), DataType_t::FLOAT, 1, encoded.data(), type, 1, count);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(encoded[i], base::encode_small_floating(type, floats[i])) << floats[i];
  }
}

TEST_P(ConvertTest, IntegersSaturateAndRoundHalfToEven) {
  std::vector<double> values = {0.5,
                                1.5,
                                2.5,
                                -0.5,
                                -1.5,
                                126.5,
                                127.5,
                                128.0,
                                -128.5,
                                -129.0,
                                254.5,
                                255.5,
                                256.0,
                                -1.0,
                                1e10,
                                -1e10,
                                1e30,
                                -1e30,
                                2147483647.0,
                                2147483648.0,
                                -2147483648.0,
                                -2147483904.0,
                                1e19,
                                -1e19,
                                9.3e18,
                                0.49999997,
                                double{INFINITY},
                                -double{INFINITY},
                                std::nan(""),
                                -0.0};
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    values.push_back(std::uniform_real_distribution<double>(-300.0, 300.0)(random));
  }
  for (DataType_t source : {DataType_t::FLOAT, DataType_t::DOUBLE}) {
    for (DataType_t target : {DataType_t::INT8, DataType_t::UINT8, DataType_t::INT32,
                              DataType_t::INT64, DataType_t::BOOLEAN}) {
      std::vector<uint8_t> from(values.size() * 8), to(values.size() * 8), expected(8);
      for (size_t i = 0; i < values.size(); ++i) {
        write_element(from.data() + i * static_cast<size_t>(element_bytes(source)), source,
                      values[i]);
      }
      table().convert(from.data(), source, 1, to.data(), target, 1,
                      static_cast<int64_t>(values.size()));
      for (size_t i = 0; i < values.size(); ++i) {
        const double value =
            read_element(from.data() + i * static_cast<size_t>(element_bytes(source)), source);
        write_element(expected.data(), target, value);
        ASSERT_EQ(read_element(to.data() + i * static_cast<size_t>(element_bytes(target)), target),
                  read_element(expected.data(), target))
            << to_string(source) << " " << value << " to " << to_string(target);
      }
    }
  }
}

TEST_P(ConvertTest, Int64IsExact) {
  const std::vector<int64_t> values = {INT64_MAX, INT64_MIN, INT64_MAX - 1, (int64_t{1} << 53) + 1,
                                       -1};
  std::vector<int64_t> copy(values.size());
  table().convert(values.data(), DataType_t::INT64, 1, copy.data(), DataType_t::INT64, 1, 5);
  EXPECT_EQ(copy, values);
  int32_t narrow[5];
  table().convert(values.data(), DataType_t::INT64, 1, narrow, DataType_t::INT32, 1, 5);
  EXPECT_EQ(narrow[0], INT32_MAX);
  EXPECT_EQ(narrow[1], INT32_MIN);
  EXPECT_EQ(narrow[4], -1);
}

// Every length and several strides; nothing outside is read or written.
TEST_P(ConvertTest, LengthsAndStrides) {
  std::mt19937 random(2);
  for (DataType_t source : kTypes) {
    for (DataType_t target : kTypes) {
      for (int64_t n : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 65, 511, 513}) {
        for (int64_t source_stride : {1, 0, 3, -1}) {
          const int64_t target_stride = n % 2 + 1, source_bytes = element_bytes(source);
          const int64_t target_bytes = element_bytes(target);
          const int64_t source_extent = std::abs(source_stride) * (n - 1) + 1;
          Guarded<uint8_t> from(static_cast<size_t>(source_extent * source_bytes));
          Guarded<uint8_t> to(static_cast<size_t>(((n - 1) * target_stride + 1) * target_bytes));
          for (int64_t i = 0; i < source_extent; ++i) {
            write_element(from.data() + i * source_bytes, source, random_value(source, random));
          }
          const uint8_t* first =
              from.data() + (source_stride < 0 ? (source_extent - 1) * source_bytes : 0);
          table().convert(first, source, source_stride, to.data(), target, target_stride, n);
          ASSERT_TRUE(to.front_untouched());
          for (int64_t i = 0; i < n; ++i) {
            uint8_t expected[8];
            write_element(expected, target,
                          read_element(first + i * source_stride * source_bytes, source));
            ASSERT_EQ(std::memcmp(to.data() + i * target_stride * target_bytes, expected,
                                  static_cast<size_t>(target_bytes)),
                      0)
                << to_string(source) << " to " << to_string(target) << " n " << n << " at " << i;
            for (int64_t b = target_bytes; target_stride == 2 && i + 1 < n && b < 2 * target_bytes;
                 ++b) {
              ASSERT_EQ(to[static_cast<size_t>(i * 2 * target_bytes + b)], 0xff);
            }
          }
        }
      }
    }
  }
}

WARPLOOM_KERNEL_TESTS(ConvertTest);

}  // namespace
}  // namespace warploom::cpu
