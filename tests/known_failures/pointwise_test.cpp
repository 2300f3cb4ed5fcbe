// Failures known of other libraries' pointwise operations and reductions; README.md says where each
// comes from.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/describe.h"
#include "harness/element.h"
#include "harness/layout.h"
#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

using enum DataType_t;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(KnownFailures, B104_BroadcastAlongTheLastDimension) {
  graph::Graph graph = describe();
  const auto a = input(graph, "A", {1, 2, 2}, Dims{4, 2, 1});
  const auto b = input(graph, "B", {1, 2, 1}, Dims{2, 1, 1});
  const auto c = graph.pointwise(a, b, pointwise(PointwiseMode_t::ADD));
  output(c);
  expect_every_plan(graph, {{a, {1, 2, 3, 4}}, {b, {10, 20}}},
                    {{c, {11, 12, 23, 24}, Tolerance::exact()}});
}

TEST(KnownFailures, B105_LoneOperations) {
  const Dims dims{2, 3, 5, 7};
  const Values x_values = random_values(dims, FLOAT, 1, -3, 3);
  for (const auto mode :
       {PointwiseMode_t::SIGMOID_FWD, PointwiseMode_t::RELU_FWD, PointwiseMode_t::ADD}) {
    graph::Graph graph = describe();
    const auto x = input(graph, "X", dims);
    const auto y = mode == PointwiseMode_t::ADD ? graph.pointwise(x, x, pointwise(mode))
                                                : graph.pointwise(x, pointwise(mode));
    output(y);
    Values expected = x_values;
    for (double& value : expected)
      value = mode == PointwiseMode_t::ADD        ? 2 * value
              : mode == PointwiseMode_t::RELU_FWD ? std::max(value, 0.0)
                                                  : 1 / (1 + std::exp(-value));
    expect_every_plan(graph, {{x, x_values}}, {{y, expected}});
  }
}

TEST(KnownFailures, B108_ChainsOfHundreds) {
  for (const int length : {60, 500}) {
    graph::Graph graph = describe();
    const auto x = input(graph, "X", {3, 7});
    const auto step = input(graph, "step", {1, 1});
    auto sum = x;
    for (int i = 0; i < length; ++i)
      sum = graph.pointwise(sum, step, pointwise(PointwiseMode_t::ADD));
    output(sum);
    const Values values = random_integers({3, 7}, 1, -9, 9);
    Values expected = values;
    for (double& value : expected) value += 0.5 * length;
    expect_every_plan(graph, {{x, values}, {step, {0.5}}}, {{sum, expected, Tolerance::exact()}});
  }
}

TEST(KnownFailures, B109_NaNThroughPointwise) {
  const Values a_values{kNaN, 1, kNaN, kInfinity, -kInfinity, 0.0, -0.0};
  const Values b_values{1, kNaN, kNaN, 2, 2, -0.0, 0.0};
  for (const auto type : {FLOAT, HALF, BFLOAT16, DOUBLE}) {
    graph::Graph graph = describe(type, type == DOUBLE ? DOUBLE : FLOAT);
    const auto a = input(graph, "A", {7});
    const auto b = input(graph, "B", {7});
    const auto relu = graph.pointwise(a, pointwise(PointwiseMode_t::RELU_FWD));
    const auto greater = graph.pointwise(a, b, pointwise(PointwiseMode_t::MAX));
    const auto lesser = graph.pointwise(a, b, pointwise(PointwiseMode_t::MIN));
    for (const auto& tensor : {relu, greater, lesser}) output(tensor);
    expect_every_plan(graph, {{a, a_values}, {b, b_values}},
                      {{relu, {kNaN, 1, kNaN, kInfinity, 0, 0, 0}},
                       {greater, {kNaN, kNaN, kNaN, kInfinity, 2, 0, 0}},
                       {lesser, {kNaN, kNaN, kNaN, 2, -kInfinity, 0, 0}}});
  }
}

// NaN as the first, a middle and the last of the elements that are reduced.
TEST(KnownFailures, B109_NaNThroughReductions) {
  for (const auto mode : {ReductionMode_t::MAX, ReductionMode_t::MIN, ReductionMode_t::AMAX}) {
    for (const auto type : {FLOAT, HALF, DOUBLE}) {
      for (const std::string layout : {"row_major", "column_major"}) {
        constexpr int64_t kLength = 77;
        graph::Graph graph = describe(type, type == DOUBLE ? DOUBLE : FLOAT);
        const auto x = input(graph, "X", {4, kLength}, layout);
        const auto y = graph.reduction(x, reduction(mode));
        output(y, {4, 1}, "row_major");
        Values values = random_values({4, kLength}, type, 1);
        values[0] = values[kLength + 30] = values[3 * kLength - 1] = kNaN;
        double last = mode == ReductionMode_t::MIN ? kInfinity : -kInfinity;
        for (size_t i = 3 * kLength; i < values.size(); ++i)
          last = mode == ReductionMode_t::MIN   ? std::min(last, values[i])
                 : mode == ReductionMode_t::MAX ? std::max(last, values[i])
                                                : std::max(last, std::fabs(values[i]));
        expect_every_plan(graph, {{x, values}},
                          {{y, {kNaN, kNaN, kNaN, last}, Tolerance::exact()}});
      }
    }
  }
}

double reduce(ReductionMode_t mode, const Values& values) {
  double sum = 0, greatest = -kInfinity;
  for (double value : values) {
    sum += value;
    greatest = std::max(greatest, value);
  }
  return mode == ReductionMode_t::ADD   ? sum
         : mode == ReductionMode_t::MAX ? greatest
                                        : sum / static_cast<double>(values.size());
}

TEST(KnownFailures, B110_ReductionsOfEveryAxisAndLength) {
  for (const auto mode : {ReductionMode_t::ADD, ReductionMode_t::MAX, ReductionMode_t::AVG}) {
    for (const int64_t length : {0, 1, 33, 65537}) {
      for (size_t axis = 0; axis < 3; ++axis) {
        Dims dims{2, 3, 2}, reduced{2, 3, 2};
        dims[axis] = length;
        reduced[axis] = 1;
        graph::Graph graph = describe();
        const auto x = input(graph, "X", dims);
        const auto y = graph.reduction(x, reduction(mode));
        output(y, reduced, "row_major");
        const Values values = random_values(dims, FLOAT, 1, 0.5, 1.5);
        const Values expected = generate(reduced, [&](const Dims& at) {
          Values line;
          Dims index = at;
          for (int64_t i = 0; i < length; ++i) {
            index[axis] = i;
            line.push_back(View(values, dims)(index[0], index[1], index[2]));
          }
          return reduce(mode, line);  // of nothing: 0, -inf, and NaN for the mean
        });
        expect_every_plan(graph, {{x, values}}, {{y, expected, Tolerance{2e-5, 0}}});
      }
    }
  }
}

TEST(KnownFailures, B112_BroadcastOfInnerDimensions) {
  const Dims dims{2, 3, 4, 5};
  graph::Graph graph = describe();
  const auto a = input(graph, "A", dims);
  const auto b = input(graph, "B", {2, 1, 1, 5});
  const auto c = graph.pointwise(a, b, pointwise(PointwiseMode_t::ADD));
  output(c);
  const Values a_values = random_values(dims, FLOAT, 1), b_values = random_values({10}, FLOAT, 2);
  expect_every_plan(graph, {{a, a_values}, {b, b_values}},
                    {{c, generate(dims, [&](const Dims& at) {
                        return View(a_values, dims)(at[0], at[1], at[2], at[3]) +
                               View(b_values, {2, 5})(at[0], at[3]);
                      })}});
}

// What is beyond the greatest number saturates.
TEST(KnownFailures, B124_ConversionToE4M3) {
  graph::Graph graph = describe();
  const auto x = input(graph, "X", {3, 4});
  const auto y = graph.pointwise(x, pointwise(PointwiseMode_t::IDENTITY));
  output(y, {}, "", FP8_E4M3);
  expect_every_plan(
      graph, {{x, {448, 464, 465, 1000, -1000, kNaN, 17, 19, 304, 300, kInfinity, -0x1p-10}}},
      {{y, {448, 448, 448, 448, -448, kNaN, 16, 20, 320, 288, 448, -0.0}, Tolerance::exact()}});
}

}  // namespace
}  // namespace warploom::test
