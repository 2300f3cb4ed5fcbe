#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using graph::Softmax_attributes;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Softmax_attributes softmax(int64_t axis = -1) {
  return Softmax_attributes().set_name("sm").set_axis(axis);
}

/// S, Stats, Max and Sum_exp of one row.
std::vector<Values> run_row(const Values& p, std::optional<double> sink = std::nullopt) {
  const auto type = DataType_t::DOUBLE;
  auto operation = with(softmax(), {input("p", {static_cast<int64_t>(p.size())}, type)},
                        {output(type), output(type), output(type), output(type)});
  if (!sink) return run(operation, {p});
  operation.inputs.push_back(input("sink", {1}, type));
  return run(operation, {p, {*sink}});
}

TEST(Softmax, OverEveryAxisWithAnyStrides) {
  const Dims dims{3, 4, 5};
  const Values p = random_values(60, 3);
  for (int64_t axis = -3; axis < 3; ++axis) {
    SCOPED_TRACE(axis);
    const auto type = DataType_t::DOUBLE;
    const auto found = run(with(softmax(axis), {input("p", dims, type, {1, 3, 13})},
                                {output(type), output(type), output(type), output(type)}),
                           {p});
    const size_t reduced = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    const int64_t stride[] = {20, 5, 1};
    for (int64_t i = 0, row = 0; i < 60; ++i) {
      const int64_t place = i / stride[reduced] % dims[reduced];
      const int64_t first = i - place * stride[reduced];
      double maximum = -kInfinity, sum = 0;
      for (int64_t k = 0; k < dims[reduced]; ++k)
        maximum = std::max(maximum, p[static_cast<size_t>(first + k * stride[reduced])]);
      for (int64_t k = 0; k < dims[reduced]; ++k)
        sum += std::exp(p[static_cast<size_t>(first + k * stride[reduced])] - maximum);
      const auto at = static_cast<size_t>(i);
      EXPECT_NEAR(found[0][at], std::exp(p[at] - maximum) / sum, 1e-14) << i;
      if (place != 0) continue;
      EXPECT_NEAR(found[1][static_cast<size_t>(row)], maximum + std::log(sum), 1e-14);
      EXPECT_EQ(found[2][static_cast<size_t>(row)], maximum);
      EXPECT_NEAR(found[3][static_cast<size_t>(row)], sum, 1e-13);
      ++row;
    }
  }
}

TEST(Softmax, Corners) {
  expect_near(run_row({-kInfinity, -kInfinity})[0], {0, 0});
  expect_near(run_row({-kInfinity, -kInfinity})[1], {-kInfinity});
  expect_near(run_row({-kInfinity, -kInfinity})[2], {-kInfinity});
  expect_near(run_row({-kInfinity, -kInfinity})[3], {0});
  expect_near(run_row({-kInfinity, 5, 5})[0], {0, 0.5, 0.5});
  expect_near(run_row({1, kNan, 2})[0], {kNan, kNan, kNan});
  expect_near(run_row({kInfinity, 1})[0], {kNan, kNan});
  expect_near(run_row({30000, 29999})[0], {1 / (1 + std::exp(-1)), 1 / (1 + std::exp(1))});
  expect_near(run_row({7})[0], {1});
  EXPECT_EQ(run_row({})[0], Values());
  expect_near(run_row({})[1], {-kInfinity});
}

TEST(Softmax, TheSinkIsOneMoreElement) {
  const auto found = run_row({1, 2}, 3.0);
  const double sum = std::exp(-2) + std::exp(-1) + 1;
  expect_near(found[0], {std::exp(-2) / sum, std::exp(-1) / sum});
  expect_near(found[1], {3 + std::log(sum)});
  expect_near(found[2], {3});
  expect_near(found[3], {sum});
  expect_near(run_row({-kInfinity}, 2.0)[0], {0});
  expect_near(run_row({-kInfinity}, 2.0)[1], {2});
  expect_near(run_row({0}, -kInfinity)[0], {1});

  // One for each head of [b, h, s, k].
  const auto type = DataType_t::DOUBLE;
  const Values p = random_values(12, 5);
  const Values all =
      run_one(with(softmax(), {input("p", {1, 2, 3, 2}, type), input("sink", {1, 2, 1, 1}, type)},
                   {output(type)}),
              {p, {0.5, -1}});
  for (size_t i = 0; i < 12; ++i) {
    const double sink = i < 6 ? 0.5 : -1;
    const double total = std::exp(p[i / 2 * 2]) + std::exp(p[i / 2 * 2 + 1]) + std::exp(sink);
    EXPECT_NEAR(all[i], std::exp(p[i]) / total, 1e-14);
  }
}

TEST(SoftmaxInference, Layouts) {
  auto s = output(), stats = output();
  expect_accepted(
      with(softmax(1), {input("p", {2, 3, 4}, DataType_t::FLOAT, {1, 8, 2})}, {s, stats}));
  EXPECT_EQ(s->get_dim(), (Dims{2, 3, 4}));
  EXPECT_EQ(s->get_stride(), (Dims{1, 8, 2}));
  EXPECT_EQ(stats->get_dim(), (Dims{2, 1, 4}));
  EXPECT_EQ(stats->get_stride(), (Dims{1, 8, 2}));
  s = output();
  expect_accepted(with(softmax(), {input("p", {2, 3}, DataType_t::FLOAT, {0, 1})}, {s}));
  EXPECT_EQ(s->get_stride(), (Dims{1, 2}));
}

TEST(SoftmaxErrors, AreRefused) {
  const auto p = input("p", {2, 3});
  expect_refused(with(softmax(2), {p}, {output()}), error_code_t::INVALID_VALUE,
                 {"field axis", "found 2", "-2 to 1"});
  expect_refused(with(softmax(-3), {p}, {output()}), error_code_t::INVALID_VALUE, {"found -3"});
  expect_refused(with(softmax(), {p, input("sink", {2, 3})}, {output()}),
                 error_code_t::SHAPE_DEDUCTION_FAILED,
                 {"\"sink\" (port SINK), dim 1", "3 in [2, 3]", "accepted 1"});
  expect_refused(with(softmax(), {p}, {output(DataType_t::FLOAT, {3, 2})}),
                 error_code_t::SHAPE_DEDUCTION_FAILED, {"port S), dim 0", "3 in [3, 2]"});
  expect_refused(with(softmax(), {p}, {output(), output(DataType_t::INT32)}),
                 error_code_t::GRAPH_NOT_SUPPORTED, {"port Stats), data type", "INT32"});
  expect_refused(with(softmax().set_compute_data_type(DataType_t::INT32), {p}, {output()}),
                 error_code_t::GRAPH_NOT_SUPPORTED, {"compute data type", "INT32"});
}

}  // namespace
}  // namespace warploom::test
