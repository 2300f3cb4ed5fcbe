#include "ops/pointwise.h"

#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include <gtest/gtest.h>

#include "harness/element.h"
#include "ops/operation_runner.h"
#include "ops/pointwise_formula.h"

namespace warploom::test {
namespace {

using graph::Pointwise_attributes;
using Mode = PointwiseMode_t;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Pointwise_attributes of_mode(Mode mode) {
  return Pointwise_attributes().set_name("act").set_mode(mode);
}

std::vector<Mode> all_modes() {
  std::vector<Mode> modes;
#define WARPLOOM_ADD_MODE(name) modes.push_back(Mode::name);
  WARPLOOM_POINTWISE_MODES(WARPLOOM_ADD_MODE)
#undef WARPLOOM_ADD_MODE
  modes.erase(modes.begin());  // NOT_SET
  return modes;
}

using Real = long double;
using Formula = std::function<Real(Real, Real, Real)>;

// The textbook forms, in a wider type than the library's.
const std::map<Mode, Formula>& formulas() {
  const auto logistic = [](Real x) { return 1 / (1 + std::exp(-x)); };
  const auto normal = [](Real x) { return (1 + std::erf(x / std::sqrt(Real{2}))) / 2; };
  const auto tanh_argument = [](Real x) {
    return std::sqrt(2 / std::numbers::pi_v<Real>) * (x + Real{0.044715} * x * x * x);
  };
  static const std::map<Mode, Formula> table{
      {Mode::ADD, [](Real a, Real b, Real) { return a + b; }},
      {Mode::SUB, [](Real a, Real b, Real) { return a - b; }},
      {Mode::MUL, [](Real a, Real b, Real) { return a * b; }},
      {Mode::DIV, [](Real a, Real b, Real) { return a / b; }},
      {Mode::MOD, [](Real a, Real b, Real) { return a - b * std::trunc(a / b); }},
      {Mode::POW, [](Real a, Real b, Real) { return std::pow(a, b); }},
      {Mode::ADD_SQUARE, [](Real a, Real b, Real) { return a + b * b; }},
      {Mode::MAX, [](Real a, Real b, Real) { return a > b ? a : b; }},
      {Mode::MIN, [](Real a, Real b, Real) { return a < b ? a : b; }},
      {Mode::NEG, [](Real a, Real, Real) { return 0 - a; }},
      {Mode::ABS, [](Real a, Real, Real) { return a < 0 ? -a : a; }},
      {Mode::IDENTITY, [](Real a, Real, Real) { return a; }},
      {Mode::RECIPROCAL, [](Real a, Real, Real) { return 1 / a; }},
      {Mode::CEIL, [](Real a, Real, Real) { return -std::floor(-a); }},
      {Mode::FLOOR, [](Real a, Real, Real) { return std::floor(a); }},
      {Mode::SQRT, [](Real a, Real, Real) { return std::sqrt(a); }},
      {Mode::RSQRT, [](Real a, Real, Real) { return std::pow(a, Real{-0.5}); }},
      {Mode::EXP, [](Real a, Real, Real) { return std::exp(a); }},
      {Mode::LOG, [](Real a, Real, Real) { return std::log(a); }},
      {Mode::SIN, [](Real a, Real, Real) { return std::sin(a); }},
      {Mode::COS, [](Real a, Real, Real) { return std::cos(a); }},
      {Mode::TAN, [](Real a, Real, Real) { return std::sin(a) / std::cos(a); }},
      {Mode::ERF, [](Real a, Real, Real) { return std::erf(a); }},
      {Mode::CMP_EQ, [](Real a, Real b, Real) { return a == b; }},
      {Mode::CMP_NEQ, [](Real a, Real b, Real) { return a != b; }},
      {Mode::CMP_GT, [](Real a, Real b, Real) { return a > b; }},
      {Mode::CMP_GE, [](Real a, Real b, Real) { return a >= b; }},
      {Mode::CMP_LT, [](Real a, Real b, Real) { return a < b; }},
      {Mode::CMP_LE, [](Real a, Real b, Real) { return a <= b; }},
      {Mode::LOGICAL_AND, [](Real a, Real b, Real) { return (a != 0) * (b != 0); }},
      {Mode::LOGICAL_OR, [](Real a, Real b, Real) { return (a != 0) + (b != 0) > 0; }},
      {Mode::LOGICAL_NOT, [](Real a, Real, Real) { return a == 0; }},
      {Mode::BINARY_SELECT, [](Real a, Real b, Real c) { return c != 0 ? a : b; }},
      {Mode::RELU_FWD, [](Real a, Real, Real) { return a > 0 ? a : 0; }},
      {Mode::TANH_FWD, [](Real a, Real, Real) { return std::tanh(a); }},
      {Mode::SIGMOID_FWD, [=](Real a, Real, Real) { return logistic(a); }},
      {Mode::ELU_FWD, [](Real a, Real, Real) { return a < 0 ? std::exp(a) - 1 : a; }},
      {Mode::GELU_FWD, [=](Real a, Real, Real) { return a * normal(a); }},
      {Mode::GELU_APPROX_TANH_FWD,
       [=](Real a, Real, Real) { return a / 2 * (1 + std::tanh(tanh_argument(a))); }},
      {Mode::SOFTPLUS_FWD, [](Real a, Real, Real) { return std::log(1 + std::exp(a)); }},
      {Mode::SWISH_FWD, [=](Real a, Real, Real) { return a * logistic(a); }},
  };
  return table;
}

// A derivative by central differences of the forward formula.
Real derivative(Mode forward, Real x) {
  const Formula& f = formulas().at(forward);
  const Real step = 1e-6L;
  return (f(x + step, 0, 0) - f(x - step, 0, 0)) / (2 * step);
}

const std::map<Mode, Mode>& forward_of_backward() {
  static const std::map<Mode, Mode> table{
      {Mode::RELU_BWD, Mode::RELU_FWD},
      {Mode::TANH_BWD, Mode::TANH_FWD},
      {Mode::SIGMOID_BWD, Mode::SIGMOID_FWD},
      {Mode::ELU_BWD, Mode::ELU_FWD},
      {Mode::GELU_BWD, Mode::GELU_FWD},
      {Mode::SOFTPLUS_BWD, Mode::SOFTPLUS_FWD},
      {Mode::SWISH_BWD, Mode::SWISH_FWD},
      {Mode::GELU_APPROX_TANH_BWD, Mode::GELU_APPROX_TANH_FWD},
  };
  return table;
}

// 24 values of both signs, none at a kink.
const Values kA{-8.5, -4,    -3.25, -2.7, -2,   -1.5, -1,  -0.75, -0.5, -0.25, -0.125, -1e-3,
                1e-3, 0.125, 0.25,  0.5,  0.75, 1,    1.5, 2,     2.7,  3.25,  4,      8.5};
Values partner() {
  Values values;
  for (size_t i = 0; i < kA.size(); ++i) values.push_back(kA[(i * 7 + 5) % kA.size()]);
  return values;
}
Values condition() {
  Values values;
  for (size_t i = 0; i < kA.size(); ++i) values.push_back(i % 3 == 0 ? 0 : 1);
  return values;
}

Values run_mode(const Pointwise_attributes& attributes, const std::vector<Values>& operands,
                DataType_t type = DataType_t::DOUBLE, DataType_t out_type = DataType_t::DOUBLE) {
  std::vector<TensorPtr> inputs;
  for (size_t i = 0; i < static_cast<size_t>(ops::arity(attributes.get_mode())); ++i)
    inputs.push_back(
        input("x" + std::to_string(i), {static_cast<int64_t>(operands[i].size())}, type));
  return run_one(with(attributes, inputs, {output(out_type)}), operands);
}

TEST(Pointwise, EveryModeFollowsItsFormula) {
  const Values b = partner(), c = condition();
  for (Mode mode : all_modes()) {
    SCOPED_TRACE(std::string(to_string(mode)));
    if (mode == Mode::GEN_INDEX) continue;  // below
    Values expected;
    for (size_t i = 0; i < kA.size(); ++i) {
      if (auto backward = forward_of_backward().find(mode); backward != forward_of_backward().end())
        expected.push_back(static_cast<double>(kA[i] * derivative(backward->second, b[i])));
      else
        expected.push_back(static_cast<double>(formulas().at(mode)(kA[i], b[i], c[i])));
    }
    const bool is_derivative = forward_of_backward().contains(mode);
    expect_near(run_mode(of_mode(mode), {kA, b, c}), expected, is_derivative ? 1e-9 : 1e-13);
  }
}

TEST(Pointwise, FloatFormsAreNearTheDoubleOnes) {
  const ops::PointwiseParameters none;
  const Values b = partner(), c = condition();
  for (Mode mode : all_modes())
    for (size_t i = 0; i < kA.size(); ++i) {
      const auto x = static_cast<float>(kA[i]), y = static_cast<float>(b[i]);
      const double expected = ops::apply<double>(mode, none, x, y, c[i]);
      const float found = ops::apply<float>(mode, none, x, y, static_cast<float>(c[i]));
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(found)) << to_string(mode) << kA[i];
      else
        EXPECT_NEAR(found, expected, 2e-6 * std::max(1.0, std::fabs(expected)))
            << to_string(mode) << " " << kA[i] << " " << b[i];
    }
}

// B98: the values of another implementation.
TEST(Pointwise, GeluByErfAndByTanhDiffer) {
  const Values x{-0.5, -4, 2.7};
  const Values by_erf = run_mode(of_mode(Mode::GELU_FWD), {x});
  const Values by_tanh = run_mode(of_mode(Mode::GELU_APPROX_TANH_FWD), {x});
  EXPECT_NEAR(by_erf[0], -0.154269, 5e-7);
  EXPECT_NEAR(by_tanh[0], -0.154286, 5e-7);
  EXPECT_NEAR(by_erf[1], -1.26685e-4, 5e-10);
  EXPECT_NEAR(by_tanh[1], -7.02459e-5, 5e-11);
  EXPECT_NEAR(std::fabs(by_erf[2] - by_tanh[2]), 4.73e-4, 1e-6);
}

TEST(Pointwise, FixedValues) {
  EXPECT_NEAR(run_mode(of_mode(Mode::SIGMOID_FWD), {{2}})[0], 0.8807970779778823, 1e-15);
  EXPECT_NEAR(run_mode(of_mode(Mode::SOFTPLUS_FWD), {{1}})[0], 1.3132616875182228, 1e-15);
  EXPECT_NEAR(run_mode(of_mode(Mode::ERF), {{0.5}})[0], 0.5204998778130465, 1e-15);
  EXPECT_NEAR(run_mode(of_mode(Mode::SWISH_FWD), {{-1}})[0], -0.2689414213699951, 1e-15);
  EXPECT_EQ(run_mode(of_mode(Mode::MOD), {{-7, 7, -7, 5.5}, {3, -3, -3, 2}}),
            (Values{-1, 1, -1, 1.5}));
}

TEST(Pointwise, ParametersOfTheActivations) {
  const Values x{-3, -1, -0.5, 0, 0.5, 1, 3};
  EXPECT_EQ(run_mode(of_mode(Mode::RELU_FWD).set_relu_lower_clip(-1).set_relu_upper_clip(1), {x}),
            (Values{-1, -1, -0.5, 0, 0.5, 1, 1}));
  EXPECT_EQ(run_mode(of_mode(Mode::RELU_FWD).set_relu_lower_clip_slope(0.25f), {x}),
            (Values{-0.75, -0.25, -0.125, 0, 0.5, 1, 3}));
  EXPECT_EQ(run_mode(of_mode(Mode::RELU_FWD)
                         .set_relu_lower_clip(0.5f)
                         .set_relu_lower_clip_slope(0.5f)
                         .set_relu_upper_clip(2),
                     {x}),
            (Values{-1.25, -0.25, 0, 0.25, 0.5, 1, 2}));
  // As torch.clamp: the upper clip wins.
  EXPECT_EQ(run_mode(of_mode(Mode::RELU_FWD).set_relu_lower_clip(2).set_relu_upper_clip(1), {x}),
            Values(7, 1.0));
  const Values ones(7, 1.0);
  EXPECT_EQ(
      run_mode(of_mode(Mode::RELU_BWD).set_relu_lower_clip(-1).set_relu_upper_clip(1), {ones, x}),
      (Values{0, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(run_mode(of_mode(Mode::RELU_BWD).set_relu_lower_clip_slope(0.25f), {ones, x}),
            (Values{0.25, 0.25, 0.25, 0.25, 1, 1, 1}));
  expect_near(run_mode(of_mode(Mode::ELU_FWD).set_elu_alpha(2), {{-1, 1}}),
              {2 * (std::exp(-1.0) - 1), 1});
  expect_near(run_mode(of_mode(Mode::ELU_BWD).set_elu_alpha(2), {{3, 3}, {-1, 1}}),
              {6 * std::exp(-1.0), 3});
  expect_near(run_mode(of_mode(Mode::SWISH_FWD).set_swish_beta(2), {{0.5}}),
              {0.5 / (1 + std::exp(-1.0))});
  expect_near(run_mode(of_mode(Mode::SWISH_FWD).set_swish_beta(0), {{3}}), {1.5});
  expect_near(run_mode(of_mode(Mode::SOFTPLUS_FWD).set_softplus_beta(0.5f), {{3}}),
              {2 * std::log(1 + std::exp(1.5))});
  expect_near(run_mode(of_mode(Mode::SOFTPLUS_BWD).set_softplus_beta(0.5f), {{3}, {2}}),
              {3 / (1 + std::exp(-1.0))});
}

TEST(Pointwise, LargeArgumentsNeitherOverflowNorLoseTheirDigits) {
  expect_near(run_mode(of_mode(Mode::SIGMOID_FWD), {{800, -800, -30}}),
              {1, 0, 9.357622968839299e-14});
  EXPECT_NEAR(run_mode(of_mode(Mode::SIGMOID_FWD), {{-30}})[0] / 9.357622968839299e-14, 1, 1e-12);
  expect_near(run_mode(of_mode(Mode::SOFTPLUS_FWD), {{1000, -1000}}), {1000, 0});
  EXPECT_NEAR(run_mode(of_mode(Mode::ELU_FWD), {{-1e-12}})[0] / -1e-12, 1, 1e-11);
  EXPECT_NEAR(run_mode(of_mode(Mode::GELU_FWD), {{-10}})[0] / -7.619853024160525e-23, 1, 1e-10);
}

// B109
TEST(Pointwise, NanAndInfinity) {
  for (Mode mode : all_modes()) {
    SCOPED_TRACE(std::string(to_string(mode)));
    const std::string_view rule = ops::text_of(mode).not_a_number;
    if (rule != "NaN in, NaN out") continue;
    const int operands = ops::arity(mode);
    for (int i = 0; i < operands; ++i) {
      std::vector<Values> inputs(3, Values{0.5});
      inputs[static_cast<size_t>(i)] = {kNan};
      EXPECT_TRUE(std::isnan(run_mode(of_mode(mode), inputs)[0])) << i;
      const float nan = std::numeric_limits<float>::quiet_NaN();
      EXPECT_TRUE(std::isnan(ops::apply<float>(mode, ops::PointwiseParameters(),
                                               i == 0 ? nan : 0.5f, i == 1 ? nan : 0.5f, 0.5f)));
    }
  }
  EXPECT_EQ(run_mode(of_mode(Mode::RELU_FWD), {{kInfinity, -kInfinity}}), (Values{kInfinity, 0}));
  expect_near(run_mode(of_mode(Mode::RELU_BWD), {{kInfinity, kNan, kNan, 1}, {-1, -1, 1, kNan}}),
              {0, 0, kNan, kNan});
  EXPECT_EQ(run_mode(of_mode(Mode::CMP_EQ), {{kNan}, {kNan}}), Values{0});
  EXPECT_EQ(run_mode(of_mode(Mode::CMP_NEQ), {{kNan}, {kNan}}), Values{1});
  EXPECT_EQ(run_mode(of_mode(Mode::CMP_LE), {{kNan}, {1}}), Values{0});
  EXPECT_EQ(run_mode(of_mode(Mode::LOGICAL_AND), {{kNan}, {1}}), Values{1});
  EXPECT_EQ(run_mode(of_mode(Mode::LOGICAL_NOT), {{kNan}}), Values{0});
  EXPECT_EQ(run_mode(of_mode(Mode::BINARY_SELECT), {{1, kNan}, {kNan, 2}, {1, 0}}), (Values{1, 2}));
  EXPECT_EQ(run_mode(of_mode(Mode::BINARY_SELECT), {{1}, {2}, {kNan}}), Values{1});
  EXPECT_EQ(run_mode(of_mode(Mode::DIV), {{1, -1}, {0, 0}}), (Values{kInfinity, -kInfinity}));
  EXPECT_TRUE(std::isnan(run_mode(of_mode(Mode::MOD), {{1}, {0}})[0]));
  EXPECT_TRUE(std::isnan(run_mode(of_mode(Mode::SQRT), {{-1}})[0]));
  EXPECT_EQ(run_mode(of_mode(Mode::LOG), {{0}}), Values{-kInfinity});
  EXPECT_EQ(run_mode(of_mode(Mode::POW), {{1, kNan}, {kNan, 0}}), (Values{1, 1}));
  const Values zeros = run_mode(of_mode(Mode::MAX), {{0.0, -0.0}, {-0.0, 0.0}});
  EXPECT_FALSE(std::signbit(zeros[0]) || std::signbit(zeros[1]));
}

// --- Integers ---

Values run_integers(Mode mode, const std::vector<Values>& operands,
                    DataType_t type = DataType_t::INT64, DataType_t out = DataType_t::INT64) {
  return run_mode(of_mode(mode).set_compute_data_type(DataType_t::INT64), operands, type, out);
}

TEST(PointwiseIntegers, SmallOnesFollowTheFormulas) {
  const Values a{-7, -3, -1, 0, 1, 2, 5, 100}, b{2, -2, 3, 5, 7, -4, 1, 9},
      c{0, 1, 0, 1, 0, 1, 1, 0};
  for (Mode mode : all_modes()) {
    SCOPED_TRACE(std::string(to_string(mode)));
    if (mode == Mode::GEN_INDEX || forward_of_backward().contains(mode)) continue;
    Values expected;
    for (size_t i = 0; i < a.size(); ++i) {
      auto value = static_cast<double>(formulas().at(mode)(a[i], b[i], c[i]));
      if (mode == Mode::DIV) value = std::trunc(a[i] / b[i]);
      expected.push_back(round_to(value, DataType_t::INT64));
    }
    EXPECT_EQ(run_integers(mode, {a, b, c}), expected);
  }
}

TEST(PointwiseIntegers, StayExactBeyondDoubles) {
  const int64_t large = (int64_t{1} << 53) + 1;
  const ops::PointwiseParameters none;
  const auto apply = [&](Mode mode, int64_t a, int64_t b, int64_t c = 0) {
    return ops::apply<int64_t>(mode, none, a, b, c);
  };
  EXPECT_EQ(apply(Mode::ADD, large, 2), large + 2);
  EXPECT_EQ(apply(Mode::MUL, large, 3), large * 3);
  EXPECT_EQ(apply(Mode::IDENTITY, large, 0), large);
  EXPECT_EQ(apply(Mode::CMP_GT, large, large - 1), 1);
  EXPECT_EQ(apply(Mode::MAX, large, large - 1), large);
  EXPECT_EQ(apply(Mode::MIN, large, large - 1), large - 1);
  EXPECT_EQ(apply(Mode::RELU_FWD, large, 0), large);
  EXPECT_EQ(apply(Mode::MOD, large, 10), large % 10);
  EXPECT_EQ(apply(Mode::DIV, large, 1), large);
  EXPECT_EQ(apply(Mode::BINARY_SELECT, large, 0, 1), large);
  // Modulo 2^64.
  EXPECT_EQ(apply(Mode::ADD, INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(apply(Mode::NEG, INT64_MIN, 0), INT64_MIN);
  EXPECT_EQ(apply(Mode::ABS, INT64_MIN, 0), INT64_MIN);
  EXPECT_EQ(apply(Mode::MUL, INT64_MIN, -1), INT64_MIN);
}

TEST(PointwiseIntegers, DivisionByZeroIsDefined) {
  const ops::PointwiseParameters none;
  const auto divide = [&](Mode mode, int64_t a, int64_t b) {
    return ops::apply<int64_t>(mode, none, a, b, 0);
  };
  EXPECT_EQ(divide(Mode::DIV, 5, 0), INT64_MAX);
  EXPECT_EQ(divide(Mode::DIV, -5, 0), INT64_MIN);
  EXPECT_EQ(divide(Mode::DIV, 0, 0), 0);
  EXPECT_EQ(divide(Mode::DIV, INT64_MIN, -1), INT64_MAX);
  EXPECT_EQ(divide(Mode::DIV, -7, 2), -3);
  EXPECT_EQ(divide(Mode::MOD, 5, 0), 0);
  EXPECT_EQ(divide(Mode::MOD, INT64_MIN, -1), 0);
  EXPECT_EQ(divide(Mode::MOD, -7, 2), -1);
  EXPECT_EQ(divide(Mode::RECIPROCAL, 0, 0), INT64_MAX);
  EXPECT_EQ(run_integers(Mode::DIV, {{5, -5}, {0, 0}}, DataType_t::INT8, DataType_t::INT8),
            (Values{127, -128}));
}

TEST(PointwiseIntegers, SaturateOnceWhereTheyAreStored) {
  EXPECT_EQ(
      run_integers(Mode::MUL, {{100, -100, 3}, {100, 100, 4}}, DataType_t::INT8, DataType_t::INT8),
      (Values{127, -128, 12}));
  EXPECT_EQ(run_integers(Mode::SUB, {{3, 200}, {5, 1}}, DataType_t::UINT8, DataType_t::UINT8),
            (Values{0, 199}));
  EXPECT_EQ(run_integers(Mode::ADD, {{127}, {127}}, DataType_t::INT8, DataType_t::INT32),
            Values{254});
  // With float arithmetic the result is rounded to nearest even.
  EXPECT_EQ(
      run_mode(of_mode(Mode::DIV), {{5, 7, -5}, {2, 2, 2}}, DataType_t::INT32, DataType_t::INT32),
      (Values{2, 4, -2}));
}

TEST(PointwiseIntegers, FloatOperandsMakeFloatArithmetic) {
  const auto a = input("a", {1}, DataType_t::FLOAT), b = input("b", {1}, DataType_t::INT32);
  EXPECT_EQ(run_one(with(of_mode(Mode::MUL).set_compute_data_type(DataType_t::INT32), {a, b},
                         {output(DataType_t::FLOAT)}),
                    {{0.5}, {5}}),
            Values{2.5});
}

TEST(Pointwise, Booleans) {
  const auto x = input("x", {4}, DataType_t::BOOLEAN);
  EXPECT_EQ(run_one(with(of_mode(Mode::LOGICAL_NOT).set_compute_data_type(DataType_t::BOOLEAN), {x},
                         {output(DataType_t::BOOLEAN)}),
                    {{1, 0, 1, 0}}),
            (Values{0, 1, 0, 1}));
  EXPECT_EQ(run_mode(of_mode(Mode::CMP_GT), {{1, 2, 3}, {2, 2, 2}}, DataType_t::FLOAT,
                     DataType_t::BOOLEAN),
            (Values{0, 0, 1}));
  EXPECT_EQ(
      run_mode(of_mode(Mode::IDENTITY), {{0.25, 0, kNan}}, DataType_t::FLOAT, DataType_t::BOOLEAN),
      (Values{1, 0, 1}));
}

TEST(Pointwise, ConvertsBetweenAllTypes) {
  const DataType_t types[] = {DataType_t::FLOAT,  DataType_t::HALF,  DataType_t::BFLOAT16,
                              DataType_t::DOUBLE, DataType_t::INT8,  DataType_t::UINT8,
                              DataType_t::INT32,  DataType_t::INT64, DataType_t::BOOLEAN};
  const Values x{-130.5, -2.5, -0.5, 0, 0.5, 1, 1.5, 200, 255.5, 65503.7, 1e6};
  for (DataType_t from : types)
    for (DataType_t to : types) {
      Values expected;
      for (double value : x) {
        double held = round_to(value, from);
        if (from == DataType_t::BOOLEAN) held = held != 0;  // whatever byte it is
        expected.push_back(to == DataType_t::BOOLEAN ? held != 0 : round_to(held, to));
      }
      EXPECT_EQ(run_mode(of_mode(Mode::IDENTITY), {x}, from, to), expected)
          << to_string(from) << " to " << to_string(to);
    }
}

// --- Shapes ---

// B104, B112
TEST(PointwiseShapes, Broadcast) {
  EXPECT_EQ(run_one(with(of_mode(Mode::ADD),
                         {input("a", {1, 2, 2}, DataType_t::FLOAT, {4, 2, 1}),
                          input("b", {1, 2, 1}, DataType_t::FLOAT, {2, 1, 1})},
                         {output()}),
                    {{1, 2, 3, 4}, {10, 20}}),
            (Values{11, 12, 23, 24}));
  const Values a = count_up(120), b = count_up(10, 1000);
  Values expected;
  for (size_t i = 0; i < 120; ++i) expected.push_back(a[i] + b[i / 60 * 5 + i % 5]);
  EXPECT_EQ(run_one(with(of_mode(Mode::ADD), {input("a", {2, 3, 4, 5}), input("b", {2, 1, 1, 5})},
                         {output()}),
                    {a, b}),
            expected);
  // Ranks align right; both inputs may be the smaller one.
  EXPECT_EQ(run_one(with(of_mode(Mode::MUL), {input("a", {2, 1}), input("b", {3})}, {output()}),
                    {{1, 2}, {5, 6, 7}}),
            (Values{5, 6, 7, 10, 12, 14}));
}

TEST(PointwiseShapes, DimsOfOneMayHaveAnyStride) {
  EXPECT_EQ(run_one(with(of_mode(Mode::ADD),
                         {input("a", {1, 3}, DataType_t::FLOAT, {1000, 2}),
                          input("b", {1, 1}, DataType_t::FLOAT, {7, 9})},
                         {output(DataType_t::FLOAT, {1, 3}, {0, 4})}),
                    {{1, 2, 3}, {10}}),
            (Values{11, 12, 13}));
}

TEST(PointwiseShapes, EmptyTensors) {
  EXPECT_EQ(run_one(with(of_mode(Mode::ADD), {input("a", {2, 0}), input("b", {2, 1})}, {output()}),
                    {{}, {1, 2}}),
            Values());
}

TEST(PointwiseShapes, StoredScalarsAndRanks) {
  const auto scalar = std::make_shared<graph::Tensor_attributes>(4.0f);
  EXPECT_EQ(
      run_one(with(of_mode(Mode::MUL), {input("a", {3}), scalar}, {output()}), {{1, 2, 3}, {4}}),
      (Values{4, 8, 12}));
}

Dims inferred_strides(const std::vector<TensorPtr>& inputs, TensorPtr out = output()) {
  const Mode modes[] = {Mode::ABS, Mode::ADD, Mode::BINARY_SELECT};
  expect_accepted(with(of_mode(modes[inputs.size() - 1]), inputs, {out}));
  return out->get_stride();
}

TEST(PointwiseShapes, StridesOfTheLastInputOfTheSameDims) {
  const auto nhwc = input("nhwc", {2, 3, 4, 5}, DataType_t::FLOAT, {60, 1, 15, 3});
  const auto nchw = input("nchw", {2, 3, 4, 5});
  const auto bias = input("bias", {1, 3, 1, 1});
  EXPECT_EQ(inferred_strides({nhwc, nchw}), (Dims{60, 20, 5, 1}));
  EXPECT_EQ(inferred_strides({nchw, nhwc}), (Dims{60, 1, 15, 3}));
  EXPECT_EQ(inferred_strides({nhwc, bias}), (Dims{60, 1, 15, 3}));
  EXPECT_EQ(inferred_strides({nchw, nhwc, bias}), (Dims{60, 1, 15, 3}));
  const auto padded = input("padded", {2, 3}, DataType_t::FLOAT, {8, 1});
  EXPECT_EQ(inferred_strides({padded}), (Dims{8, 1}));
}

TEST(PointwiseShapes, ElseTheOrderOfTheFirst) {
  const auto column = input("column", {2, 3, 1}, DataType_t::FLOAT, {1, 2, 6});
  const auto row = input("row", {1, 1, 4});
  EXPECT_EQ(inferred_strides({column, row}), (Dims{1, 2, 6}));
  EXPECT_EQ(inferred_strides({row, column}), (Dims{12, 4, 1}));
  EXPECT_EQ(inferred_strides({column, row}, result()), (Dims{1, 2, 6}));
  const auto scalar = std::make_shared<graph::Tensor_attributes>(4.0f);
  EXPECT_EQ(inferred_strides({scalar, column}), (Dims{1, 2, 6}));
}

TEST(PointwiseShapes, GenIndex) {
  for (DataType_t compute : {DataType_t::FLOAT, DataType_t::INT64}) {
    const auto attributes = of_mode(Mode::GEN_INDEX).set_axis(1).set_compute_data_type(compute);
    EXPECT_EQ(run_one(with(attributes, {input("x", {2, 3})}, {output(DataType_t::INT32)}),
                      {Values(6, kNan)}),
              (Values{0, 1, 2, 0, 1, 2}));
  }
}

TEST(PointwiseErrors, Arity) {
  const auto x = input("x", {2});
  for (Mode mode : all_modes()) {
    const int arity = ops::arity(mode);
    auto attributes = of_mode(mode).set_axis(0);
    std::vector<TensorPtr> tensors(static_cast<size_t>(arity), x);
    expect_accepted(with(attributes, tensors, {output()}));
    if (arity < 3) {
      tensors.push_back(x);
      expect_refused(with(attributes, tensors, {output()}), error_code_t::INVALID_VALUE,
                     {"found a tensor", to_string(mode)});
      tensors.pop_back();
    }
    tensors.pop_back();
    expect_refused(with(attributes, tensors, {output()}), error_code_t::ATTRIBUTE_NOT_SET,
                   {"no tensor", "port IN_" + std::to_string(arity - 1)});
  }
}

TEST(PointwiseErrors, ShapesAndFields) {
  const auto add = of_mode(Mode::ADD);
  expect_refused(with(add, {input("a", {2, 3}), input("b", {2, 4})}, {output()}),
                 error_code_t::SHAPE_DEDUCTION_FAILED,
                 {"POINTWISE \"act\"", "\"b\" (port IN_1), dim 1", "4 in [2, 4]", "1 or 3"});
  expect_refused(with(add, {input("a", {0}), input("b", {4})}, {output()}),
                 error_code_t::SHAPE_DEDUCTION_FAILED, {"\"b\"", "1 or 0"});
  const auto x = input("x", {2, 3});
  const auto gen_index = of_mode(Mode::GEN_INDEX);
  expect_refused(with(gen_index, {x}, {output()}), error_code_t::ATTRIBUTE_NOT_SET,
                 {"field axis", "0 to 1"});
  for (int64_t axis : {-1, 2})
    expect_refused(with(of_mode(Mode::GEN_INDEX).set_axis(axis), {x}, {output()}),
                   error_code_t::INVALID_VALUE, {"field axis", "0 to 1", "\"x\""});
  const auto relu = [] { return of_mode(Mode::RELU_FWD); };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_refused(with(relu().set_relu_lower_clip(nan), {x}, {output()}),
                 error_code_t::INVALID_VALUE, {"field relu_lower_clip", "nan"});
  expect_refused(with(relu().set_relu_upper_clip(nan), {x}, {output()}),
                 error_code_t::INVALID_VALUE, {"field relu_upper_clip"});
  expect_refused(with(relu().set_relu_lower_clip_slope(nan), {x}, {output()}),
                 error_code_t::INVALID_VALUE, {"field relu_lower_clip_slope"});
  expect_refused(with(of_mode(Mode::SOFTPLUS_FWD).set_softplus_beta(0), {x}, {output()}),
                 error_code_t::INVALID_VALUE, {"field softplus_beta", "other than 0"});
  expect_refused(with(of_mode(Mode::ELU_FWD).set_elu_alpha(INFINITY), {x}, {output()}),
                 error_code_t::INVALID_VALUE, {"field elu_alpha", "finite"});
  expect_accepted(with(relu().set_relu_lower_clip(-INFINITY), {x}, {output()}));
}

}  // namespace
}  // namespace warploom::test
