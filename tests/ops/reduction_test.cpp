#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using graph::Reduction_attributes;
using Mode = ReductionMode_t;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Mode kModes[] = {Mode::ADD, Mode::MUL,   Mode::MIN,   Mode::MAX,         Mode::AMAX,
                           Mode::AVG, Mode::NORM1, Mode::NORM2, Mode::MUL_NO_ZEROS};

Reduction_attributes of_mode(Mode mode) {
  return Reduction_attributes().set_name("reduce").set_mode(mode);
}

double expected_value(Mode mode, const Values& x) {
  double sum = 0, product = 1, product_of_others = 1, least = kInfinity, most = -kInfinity,
         largest = 0, sum_of_magnitudes = 0, sum_of_squares = 0;
  for (double value : x) {
    sum += value;
    product *= value;
    if (value != 0) product_of_others *= value;
    least = std::min(least, value);
    most = std::max(most, value);
    largest = std::max(largest, std::fabs(value));
    sum_of_magnitudes += std::fabs(value);
    sum_of_squares += value * value;
  }
  switch (mode) {
    case Mode::ADD:
      return sum;
    case Mode::MUL:
      return product;
    case Mode::MIN:
      return least;
    case Mode::MAX:
      return most;
    case Mode::AMAX:
      return largest;
    case Mode::AVG:
      return sum / static_cast<double>(x.size());
    case Mode::NORM1:
      return sum_of_magnitudes;
    case Mode::NORM2:
      return std::sqrt(sum_of_squares);
    case Mode::MUL_NO_ZEROS:
      return product_of_others;
    case Mode::NOT_SET:
      break;
  }
  return kNan;
}

Values reduce(Mode mode, const Values& x, const Dims& x_dims, const Dims& y_dims,
              DataType_t type = DataType_t::DOUBLE) {
  return run_one(with(of_mode(mode), {input("x", x_dims, type)}, {output(type, y_dims)}), {x});
}

TEST(Reduction, EveryModeOverEverySetOfAxes) {
  const Dims x_dims{2, 3, 4};
  Values x = random_values(24, 7);
  x[5] = 0;
  for (Mode mode : kModes)
    for (int axes = 0; axes < 8; ++axes) {
      SCOPED_TRACE(std::string(to_string(mode)) + " " + std::to_string(axes));
      Dims y_dims = x_dims;
      for (size_t i = 0; i < 3; ++i)
        if ((axes >> i & 1) != 0) y_dims[i] = 1;
      std::vector<Values> parts(static_cast<size_t>(y_dims[0] * y_dims[1] * y_dims[2]));
      for (int64_t i = 0; i < 24; ++i) {
        const int64_t index[] = {i / 12 % y_dims[0], i / 4 % 3 % y_dims[1], i % 4 % y_dims[2]};
        parts[static_cast<size_t>((index[0] * y_dims[1] + index[1]) * y_dims[2] + index[2])]
            .push_back(x[static_cast<size_t>(i)]);
      }
      Values expected;
      for (const Values& part : parts) expected.push_back(expected_value(mode, part));
      expect_near(reduce(mode, x, x_dims, y_dims), expected, 1e-14);
    }
}

TEST(Reduction, Lengths) {
  for (int64_t length : {1, 33, 65537})
    for (Mode mode : kModes) {
      const Values x = random_values(length, 9);
      expect_near(reduce(mode, x, {length}, {1}), {expected_value(mode, x)}, 1e-12);
    }
}

// Over nothing: the neutral value of each mode.
TEST(Reduction, OverNothing) {
  const std::pair<Mode, double> neutral[] = {
      {Mode::ADD, 0},         {Mode::MUL, 1},          {Mode::MUL_NO_ZEROS, 1},
      {Mode::MIN, kInfinity}, {Mode::MAX, -kInfinity}, {Mode::AMAX, 0},
      {Mode::NORM1, 0},       {Mode::NORM2, 0},        {Mode::AVG, kNan}};
  for (const auto& [mode, value] : neutral)
    expect_near(reduce(mode, {}, {2, 0}, {2, 1}), {value, value});
  EXPECT_EQ(reduce(Mode::ADD, {}, {2, 0}, {1, 0}), Values());
}

// B109
TEST(Reduction, NanWinsWhereverItIs) {
  for (Mode mode : kModes)
    for (size_t place : {0, 2, 4}) {
      Values x{1, -2, 3, 0, -5};
      x[place] = kNan;
      EXPECT_TRUE(std::isnan(reduce(mode, x, {5}, {1})[0])) << to_string(mode) << place;
    }
  EXPECT_EQ(reduce(Mode::AMAX, {-3, -1}, {2}, {1}), Values{3});
  EXPECT_EQ(reduce(Mode::AMAX, {-kInfinity, 1}, {2}, {1}), Values{kInfinity});
  EXPECT_EQ(reduce(Mode::MAX, {-kInfinity, -kInfinity}, {2}, {1}), Values{-kInfinity});
}

TEST(Reduction, IntegersAreExact) {
  const auto run_integers = [](Mode mode, const Values& x, DataType_t type, DataType_t out) {
    return run_one(with(of_mode(mode).set_compute_data_type(DataType_t::INT64),
                        {input("x", {static_cast<int64_t>(x.size())}, type)}, {output(out, {1})}),
                   {x});
  };
  const double large = 9007199254740994;  // 2^53 + 2
  const auto int64 = DataType_t::INT64, int8 = DataType_t::INT8;
  EXPECT_EQ(run_integers(Mode::ADD, {large, 1, -large}, int64, int64), Values{1});
  EXPECT_EQ(run_integers(Mode::MUL, {3, -4, 5}, int8, int64), Values{-60});
  EXPECT_EQ(run_integers(Mode::ADD, Values(1000, 127), int8, int8), Values{127});
  EXPECT_EQ(run_integers(Mode::ADD, Values(1000, 127), int8, DataType_t::INT32), Values{127000});
  EXPECT_EQ(run_integers(Mode::AMAX, {-128, 5}, int8, int64), Values{128});
  EXPECT_EQ(run_integers(Mode::AVG, {1, 2, 2}, int8, int64), Values{2});
  EXPECT_EQ(run_integers(Mode::AVG, {1, 2}, int8, int64), Values{2});  // 1.5 to even
  EXPECT_EQ(run_integers(Mode::NORM2, {3, 4}, int8, int64), Values{5});
  EXPECT_EQ(run_integers(Mode::NORM1, {-3, 4}, int8, int64), Values{7});
  EXPECT_EQ(run_integers(Mode::MUL_NO_ZEROS, {0, 4, -2}, int8, int64), Values{-8});
  EXPECT_EQ(run_integers(Mode::MIN, {}, int8, int8), Values{127});
  EXPECT_EQ(run_integers(Mode::MAX, {}, int8, int8), Values{-128});
  EXPECT_EQ(run_integers(Mode::AVG, {}, int8, int8), Values{0});
}

TEST(Reduction, IsRoundedOnce) {
  EXPECT_EQ(reduce(Mode::ADD, {2048, 1, 1}, {3}, {1}, DataType_t::HALF), Values{2050});
}

TEST(Reduction, AnyStrides) {
  EXPECT_EQ(run_one(with(of_mode(Mode::ADD), {input("x", {2, 3}, DataType_t::FLOAT, {1, 5})},
                         {output(DataType_t::FLOAT, {1, 3}, {9, 4})}),
                    {count_up(6)}),
            (Values{5, 7, 9}));
}

TEST(ReductionInference, DimsAndStrides) {
  const TensorPtr same = output();
  expect_accepted(with(of_mode(Mode::ADD), {input("x", {2, 3, 4, 5})}, {same}));
  EXPECT_EQ(same->get_dim(), (Dims{2, 3, 4, 5}));
  EXPECT_EQ(same->get_stride(), (Dims{60, 1, 15, 3}));
  const TensorPtr channels = output(DataType_t::FLOAT, {1, 3, 1, 1});
  expect_accepted(with(of_mode(Mode::ADD), {input("x", {2, 3, 4, 5})}, {channels}));
  EXPECT_EQ(channels->get_stride(), (Dims{3, 1, 3, 3}));
  const TensorPtr rows = output(DataType_t::FLOAT, {2, 3, 1});
  expect_accepted(with(of_mode(Mode::ADD), {input("x", {2, 3, 4})}, {rows}));
  EXPECT_EQ(rows->get_stride(), (Dims{3, 1, 3}));
}

TEST(ReductionErrors, Shapes) {
  const auto x = input("x", {2, 3});
  expect_refused(
      with(of_mode(Mode::ADD), {x}, {output(DataType_t::FLOAT, {2, 4})}),
      error_code_t::SHAPE_DEDUCTION_FAILED,
      {"REDUCTION \"reduce\"", "port Y), dim 1", "found 4", "3, as tensor \"x\"", "or 1"});
  expect_refused(with(of_mode(Mode::ADD), {x}, {output(DataType_t::FLOAT, {2})}),
                 error_code_t::SHAPE_DEDUCTION_FAILED, {"1 dims", "accepted 2"});
}

}  // namespace
}  // namespace warploom::test
