// Forward normalizations of rows, against loops over the rows themselves.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using namespace graph;
using enum DataType_t;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class Attributes>
Attributes training() {
  return Attributes().set_name("norm").set_forward_phase(NormFwdPhase_t::TRAINING);
}

TensorPtr epsilon(DataType_t type = DOUBLE) {
  return input("epsilon", {1}, type);
}

struct Statistics {
  double mean = 0, inv_variance = 0;
};

/// Of the elements of X that `is_member` says belong to one statistic.
template <class IsMember>
Statistics statistics_of(const Values& x, double epsilon, bool is_centered, IsMember&& is_member) {
  double count = 0, mean = 0, variance = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (is_member(i)) count += 1, mean += x[i];
  mean = is_centered ? mean / count : 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (is_member(i)) variance += (x[i] - mean) * (x[i] - mean) / count;
  return {mean, 1 / std::sqrt(variance + epsilon)};
}

TEST(Layernorm, RowsOfOneAxis) {
  const Dims dims{2, 3, 5};
  const Values x = random_values(30, 1), scale = random_values(5, 2), bias = random_values(5, 3);
  const auto found =
      run(with(training<Layernorm_attributes>(),
               {input("x", dims, DOUBLE, {1, 2, 7}), input("scale", {1, 1, 5}, DOUBLE),
                input("bias", {1, 1, 5}, DOUBLE), epsilon()},
               {output(DOUBLE), output(DOUBLE), output(DOUBLE)}),
          {x, scale, bias, {1e-3}});
  for (size_t row = 0; row < 6; ++row) {
    const auto [mean, inv] = statistics_of(x, 1e-3, true, [&](size_t i) { return i / 5 == row; });
    EXPECT_NEAR(found[1][row], mean, 1e-14);
    EXPECT_NEAR(found[2][row], inv, 1e-12);
    for (size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(found[0][row * 5 + i], (x[row * 5 + i] - mean) * inv * scale[i] + bias[i], 1e-12);
  }
}

// The axes are those where SCALE's dim is not 1, whichever these are.
TEST(Layernorm, AxesAreThoseOfTheScale) {
  const Dims dims{2, 3, 4};
  const Values x = random_values(24, 4);
  for (int axes = 1; axes < 8; ++axes) {
    SCOPED_TRACE(axes);
    Dims scale_dims, kept;
    for (size_t i = 0; i < 3; ++i) {
      const bool is_normalized = (axes >> i & 1) != 0;
      scale_dims.push_back(is_normalized ? dims[i] : 1);
      kept.push_back(is_normalized ? 1 : dims[i]);
    }
    const int64_t count = scale_dims[0] * scale_dims[1] * scale_dims[2];
    const Values scale = random_values(count, 5), bias = random_values(count, 6);
    const auto place = [](const Dims& of, size_t i) {
      const int64_t at[] = {static_cast<int64_t>(i) / 12 % of[0],
                            static_cast<int64_t>(i) / 4 % 3 % of[1],
                            static_cast<int64_t>(i) % 4 % of[2]};
      return static_cast<size_t>((at[0] * of[1] + at[1]) * of[2] + at[2]);
    };
    const auto found = run(with(training<Layernorm_attributes>(),
                                {input("x", dims, DOUBLE), input("scale", scale_dims, DOUBLE),
                                 input("bias", scale_dims, DOUBLE), epsilon()},
                                {output(DOUBLE), output(DOUBLE), output(DOUBLE)}),
                           {x, scale, bias, {0.25}});
    ASSERT_EQ(found[1].size(), 24u / static_cast<size_t>(count));
    for (size_t i = 0; i < 24; ++i) {
      const size_t row = place(kept, i), at = place(scale_dims, i);
      const auto [mean, inv] =
          statistics_of(x, 0.25, true, [&](size_t k) { return place(kept, k) == row; });
      EXPECT_NEAR(found[0][i], (x[i] - mean) * inv * scale[at] + bias[at], 1e-12);
      EXPECT_NEAR(found[1][row], mean, 1e-13);
      EXPECT_NEAR(found[2][row], inv, 1e-12);
    }
  }
}

// B117: a scale of [2, 3] is not one of [3], and the other way round.
TEST(Norms, ScalesOfLowerRankAlignRight) {
  const Dims dims{2, 2, 3};
  const Values x = random_values(12, 7), one(6, 1.0);
  const auto rms = [&](const Dims& scale_dims) {
    return run(
        with(training<Rmsnorm_attributes>(),
             {input("x", dims, DOUBLE), input("scale", scale_dims, DOUBLE), nullptr, epsilon()},
             {output(DOUBLE), output(DOUBLE)}),
        {x, Values(one.begin(), one.begin() + (scale_dims.size() == 1 ? 3 : 6)), {}, {0}});
  };
  const auto per_row = rms({3}), per_matrix = rms({2, 3});
  ASSERT_EQ(per_row[1].size(), 4u);
  ASSERT_EQ(per_matrix[1].size(), 2u);
  for (size_t i = 0; i < 12; ++i) {
    const auto row = statistics_of(x, 0, false, [&](size_t k) { return k / 3 == i / 3; });
    const auto matrix = statistics_of(x, 0, false, [&](size_t k) { return k / 6 == i / 6; });
    EXPECT_NEAR(per_row[0][i], x[i] * row.inv_variance, 1e-12);
    EXPECT_NEAR(per_matrix[0][i], x[i] * matrix.inv_variance, 1e-12);
  }
}

TEST(Rmsnorm, WithAndWithoutBias) {
  const Values x = random_values(14, 8), scale = random_values(7, 9), bias = random_values(7, 10);
  for (bool has_bias : {false, true}) {
    const auto found = run(with(training<Rmsnorm_attributes>(),
                                {input("x", {2, 7}, DOUBLE), input("scale", {1, 7}, DOUBLE),
                                 has_bias ? input("bias", {1, 7}, DOUBLE) : nullptr, epsilon()},
                                {output(DOUBLE), output(DOUBLE)}),
                           {x, scale, bias, {1e-2}});
    for (size_t i = 0; i < 14; ++i) {
      const auto [mean, inv] =
          statistics_of(x, 1e-2, false, [&](size_t k) { return k / 7 == i / 7; });
      EXPECT_NEAR(found[0][i], x[i] * inv * scale[i % 7] + (has_bias ? bias[i % 7] : 0), 1e-13);
      EXPECT_NEAR(found[1][i / 7], inv, 1e-12);
    }
  }
}

TEST(Adalayernorm, HasParametersForEveryBatch) {
  const Values x = random_values(24, 11), scale = random_values(8, 12), bias = random_values(8, 13);
  const auto found = run(with(training<AdaLayernorm_attributes>(),
                              {input("x", {2, 3, 4}, DOUBLE), input("scale", {2, 1, 4}, DOUBLE),
                               input("bias", {2, 1, 4}, DOUBLE), epsilon()},
                              {output(DOUBLE), output(DOUBLE), output(DOUBLE)}),
                         {x, scale, bias, {1e-5}});
  ASSERT_EQ(found[1].size(), 6u);
  for (size_t i = 0; i < 24; ++i) {
    const auto [mean, inv] = statistics_of(x, 1e-5, true, [&](size_t k) { return k / 4 == i / 4; });
    const size_t at = i / 12 * 4 + i % 4;
    EXPECT_NEAR(found[0][i], (x[i] - mean) * inv * scale[at] + bias[at], 1e-11);
  }
}

TEST(Instancenorm, IsOverTheSpatialDims) {
  const Values x = random_values(36, 14), scale = random_values(3, 15), bias = random_values(3, 16);
  const auto found = run(
      with(training<Instancenorm_attributes>(),
           {input("x", {2, 3, 2, 3}, DOUBLE, {18, 1, 9, 3}), input("scale", {1, 3, 1, 1}, DOUBLE),
            input("bias", {1, 3, 1, 1}, DOUBLE), epsilon()},
           {output(DOUBLE), output(DOUBLE), output(DOUBLE)}),
      {x, scale, bias, {1e-5}});
  ASSERT_EQ(found[2].size(), 6u);
  for (size_t i = 0; i < 36; ++i) {
    const auto [mean, inv] = statistics_of(x, 1e-5, true, [&](size_t k) { return k / 6 == i / 6; });
    const size_t channel = i / 6 % 3;
    EXPECT_NEAR(found[0][i], (x[i] - mean) * inv * scale[channel] + bias[channel], 1e-11);
    EXPECT_NEAR(found[2][i / 6], inv, 1e-10);
  }
}

TEST(Norms, Corners) {
  const auto layernorm = [](const Values& x, double eps) {
    const auto size = static_cast<int64_t>(x.size());
    return run(
        with(training<Layernorm_attributes>(),
             {input("x", {1, size}, DOUBLE), input("scale", {1, size}, DOUBLE), nullptr, epsilon()},
             {output(DOUBLE), output(DOUBLE), output(DOUBLE)}),
        {x, Values(x.size(), 1.0), {}, {eps}});
  };
  expect_near(layernorm({1, kNan}, 1e-5)[0], {kNan, kNan});
  expect_near(layernorm({3, 3, 3}, 1e-5)[0], {0, 0, 0});
  expect_near(layernorm({3, 3}, 0)[0], {kNan, kNan});
  // Hidden size 1: the mean is the element (B123).
  expect_near(layernorm({7}, 1e-5)[0], {0});
  expect_near(layernorm({7}, 1e-5)[2], {1 / std::sqrt(1e-5)});
  // B116
  expect_near(layernorm({1e30, -1e30}, 1e-5)[0], {1, -1});
  expect_near(layernorm({1e30, -1e30}, 1e-5)[2], {1e-30}, 1e-40);
  // Over nothing.
  expect_near(layernorm({}, 1e-5)[1], {kNan});
}

TEST(NormInference, Layouts) {
  auto y = output(), mean = output(), inv = output();
  expect_accepted(with(training<Layernorm_attributes>(),
                       {input("x", {2, 3, 4}, FLOAT, {1, 8, 2}), input("scale", {1, 3, 4}),
                        input("bias", {1, 3, 4}), epsilon(FLOAT)},
                       {y, mean, inv}));
  EXPECT_EQ(y->get_stride(), (Dims{1, 8, 2}));
  EXPECT_EQ(mean->get_dim(), (Dims{2, 1, 1}));
  EXPECT_EQ(mean->get_stride(), (Dims{1, 2, 2}));
  y = output(), mean = output(), inv = output();
  expect_accepted(
      with(training<Instancenorm_attributes>(),
           {input("x", {2, 3, 4, 5}), input("scale", {1, 3, 1, 1}), nullptr, epsilon(FLOAT)},
           {y, mean, inv}));
  EXPECT_EQ(mean->get_dim(), (Dims{2, 3, 1, 1}));
  EXPECT_EQ(mean->get_stride(), (Dims{3, 1, 3, 3}));
  // Phase INFERENCE has Y alone.
  expect_accepted(with(Layernorm_attributes().set_forward_phase(NormFwdPhase_t::INFERENCE),
                       {input("x", {2, 3}), input("scale", {1, 3}), nullptr, epsilon(FLOAT)},
                       {output()}));
}

TEST(NormErrors, AreRefused) {
  const auto x = input("x", {2, 3, 4}), scale = input("scale", {1, 1, 4}), eps = epsilon(FLOAT);
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED;
  expect_refused(with(Layernorm_attributes(), {x, scale, nullptr, eps}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field forward_phase"});
  expect_refused(with(training<Layernorm_attributes>(), {x, scale}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"port EPSILON"});
  expect_refused(with(training<Layernorm_attributes>(), {x, scale, nullptr, eps}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"port MEAN", "phase TRAINING"});
  expect_refused(with(training<Layernorm_attributes>(),
                      {x, input("scale", {1, 2, 4}), nullptr, eps}, {output(), output(), output()}),
                 shape, {"\"scale\" (port SCALE), dim 1", "2 in [1, 2, 4]", "1 or 3"});
  expect_refused(with(training<Layernorm_attributes>(), {x, scale, input("bias", {1, 3, 4}), eps},
                      {output(), output(), output()}),
                 shape, {"\"bias\" (port BIAS), dim 1", "3 in [1, 3, 4]", "[1, 1, 4]"});
  expect_refused(with(training<Layernorm_attributes>(), {x, scale, nullptr, input("epsilon", {2})},
                      {output(), output(), output()}),
                 shape, {"port EPSILON), dims", "[2]", "one element"});
  expect_refused(with(training<Layernorm_attributes>(), {x, scale, nullptr, eps},
                      {output(), output(FLOAT, {2, 3, 4}), output()}),
                 shape, {"port MEAN), dim 2", "4 in [2, 3, 4]", "1 of [2, 3, 1]"});
  expect_refused(with(training<Layernorm_attributes>(), {x, scale, nullptr, eps},
                      {output(), output(INT8), output()}),
                 error_code_t::GRAPH_NOT_SUPPORTED, {"port MEAN), data type", "INT8"});
  expect_refused(with(training<Layernorm_attributes>().set_compute_data_type(INT32),
                      {x, scale, nullptr, eps}, {output(), output(), output()}),
                 error_code_t::GRAPH_NOT_SUPPORTED, {"compute data type", "INT32"});
  expect_refused(
      with(training<Instancenorm_attributes>(), {input("x", {5}), input("s", {1}), nullptr, eps},
           {output(), output(), output()}),
      shape, {"\"x\" (port X)", "1 dims", "2 or more"});
  expect_refused(with(training<Instancenorm_attributes>(),
                      {x, input("scale", {1, 3, 4}), nullptr, eps}, {output(), output(), output()}),
                 shape, {"port SCALE), dim 2", "4 in [1, 3, 4]", "[1, 3, 1]"});
}

}  // namespace
}  // namespace warploom::test
