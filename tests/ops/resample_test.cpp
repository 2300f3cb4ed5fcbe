#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using enum DataType_t;
using graph::Resample_attributes;
using graph::Resample_backward_attributes;
using PaddingMode_t::EDGE_VAL_PAD;
using PaddingMode_t::NEG_INF_PAD;
using PaddingMode_t::ZERO_PAD;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr auto kMaximum = ResampleMode_t::MAXPOOL;
constexpr auto kInside = ResampleMode_t::AVGPOOL_EXCLUDE_PADDING;
constexpr auto kWhole = ResampleMode_t::AVGPOOL_INCLUDE_PADDING;

struct Fraction {
  int64_t numerator, denominator;
};

template <class Attributes>
Attributes pool(ResampleMode_t mode, PaddingMode_t padding, const Dims& window, const Dims& stride,
                const Dims& pre, const Dims& post) {
  return Attributes()
      .set_name("pool")
      .set_resampling_mode(mode)
      .set_padding_mode(padding)
      .set_window(window)
      .set_stride(stride)
      .set_pre_padding(pre)
      .set_post_padding(post);
}

Resample_attributes row(ResampleMode_t mode, PaddingMode_t padding, int64_t window, int64_t stride,
                        int64_t pre, int64_t post) {
  return pool<Resample_attributes>(mode, padding, {window}, {stride}, {pre}, {post})
      .set_generate_index(false);
}

Values pooled(const Resample_attributes& attributes, const Values& x) {
  return run_one(with(attributes, {input("x", {1, 1, static_cast<int64_t>(x.size())}, DOUBLE)},
                      {output(DOUBLE)}),
                 {x});
}

TEST(Resample, MaximaAndMeansOfARow) {
  const Values x{1, -2, 5, 3, -4};
  EXPECT_EQ(pooled(row(kMaximum, NEG_INF_PAD, 2, 1, 0, 0), x), (Values{1, 5, 5, 3}));
  EXPECT_EQ(pooled(row(kMaximum, NEG_INF_PAD, 3, 2, 1, 1), x), (Values{1, 5, 3}));
  EXPECT_EQ(pooled(row(kWhole, ZERO_PAD, 2, 2, 1, 0), x), (Values{0.5, 1.5, -0.5}));
  EXPECT_EQ(pooled(row(kInside, ZERO_PAD, 2, 2, 1, 0), x), (Values{1, 1.5, -0.5}));
}

TEST(Resample, PaddingIsReadAsItsModeSays) {
  const Values x{-1, -2, -3};
  EXPECT_EQ(pooled(row(kMaximum, NEG_INF_PAD, 2, 2, 1, 0), x), (Values{-1, -2}));
  EXPECT_EQ(pooled(row(kMaximum, ZERO_PAD, 2, 2, 1, 0), x), (Values{0, -2}));
  EXPECT_EQ(pooled(row(kMaximum, EDGE_VAL_PAD, 2, 2, 1, 0), x), (Values{-1, -2}));
  EXPECT_EQ(pooled(row(kWhole, EDGE_VAL_PAD, 4, 1, 2, 0), x), (Values{-1.25, -1.75}));
  EXPECT_EQ(pooled(row(kInside, EDGE_VAL_PAD, 4, 1, 2, 0), x), (Values{-1.5, -2}));
  EXPECT_EQ(pooled(row(kWhole, NEG_INF_PAD, 2, 2, 1, 0), x), (Values{-kInfinity, -2.5}));
  // Nothing inside.
  EXPECT_EQ(pooled(row(kMaximum, NEG_INF_PAD, 2, 2, 2, 0), x), (Values{-kInfinity, -1}));
  expect_near(pooled(row(kInside, ZERO_PAD, 2, 2, 2, 0), x), {kNan, -1.5});
}

TEST(Resample, IndexIsThePositionOfTheFirstMaximum) {
  const auto attributes =
      pool<Resample_attributes>(kMaximum, NEG_INF_PAD, {2, 2}, {2, 2}, {1, 0}, {1, 0})
          .set_generate_index(true);
  const Values x{1, 1, kNan, 7, 2, 9, kNan, 3, -kInfinity, -kInfinity, 8, 8};
  const auto found =
      run(with(attributes, {input("x", {1, 1, 3, 4})}, {output(), output(INT8)}), {x});
  expect_near(found.at(0), {1, kNan, 9, kNan});
  EXPECT_EQ(found.at(1), (Values{2, 2, 1, 0}));
  // All of -infinity: the first inside.
  const auto other = run(with(attributes, {input("x", {1, 1, 1, 2})}, {output(), output(INT32)}),
                         {{-kInfinity, -kInfinity}});
  EXPECT_EQ(other.at(1), (Values{2}));
}

TEST(Resample, IntegersStayIntegers) {
  const auto run_integers = [](ResampleMode_t mode, const Values& x) {
    return run_one(
        with(row(mode, NEG_INF_PAD, 2, 2, 0, 0).set_compute_data_type(INT64),
             {input("x", {1, 1, static_cast<int64_t>(x.size())}, INT64)}, {output(INT64)}),
        {x});
  };
  EXPECT_EQ(run_integers(kMaximum, {-5, -7, 3, 4}), (Values{-5, 4}));
  EXPECT_EQ(run_integers(kWhole, {1, 2, 3, 4, 5, 8}), (Values{2, 4, 6}));  // ties to even
}

// Three dimensions against loops, and the gradient against the difference quotient, which is exact
// for means and, where no two values are close, for maxima.
TEST(Resample, ThreeDimensionsAndGradients) {
  const Dims x_dims{2, 3, 4, 5, 6}, window{2, 3, 2}, stride{1, 2, 3}, pre{1, 1, 0}, post{0, 1, 1};
  const int64_t count = 2 * 3 * 4 * 5 * 6;
  Values x;
  for (int64_t i = 0; i < count; ++i) x.push_back(static_cast<double>(i * 7919 % 4096) - 2048);
  for (const auto& [mode, padding] : {std::pair{kMaximum, NEG_INF_PAD},
                                      {kMaximum, ZERO_PAD},
                                      {kMaximum, EDGE_VAL_PAD},
                                      {kWhole, ZERO_PAD},
                                      {kWhole, EDGE_VAL_PAD},
                                      {kInside, ZERO_PAD}}) {
    const auto forward = pool<Resample_attributes>(mode, padding, window, stride, pre, post)
                             .set_generate_index(mode == kMaximum);
    const auto describe = [&] {
      return with(forward, {input("x", x_dims, DOUBLE, {1, 2, 150, 30, 6})},
                  {output(DOUBLE), mode == kMaximum ? output(INT32) : nullptr});
    };
    const std::vector<Values> base = run(describe(), {x});
    ASSERT_EQ(base.at(0).size(), 2u * 3 * 4 * 3 * 2);
    // The definition at one element.
    const auto at = [&](int64_t d, int64_t h, int64_t w) {
      return x[static_cast<size_t>(((4 + d) * 5 + h) * 6 + w)];  // n = 0, c = 1
    };
    if (mode == kMaximum) {
      EXPECT_EQ(
          base[0][24 + 6 + 2],
          std::max({at(0, 1, 0), at(0, 1, 1), at(0, 2, 0), at(0, 2, 1), at(0, 3, 0), at(0, 3, 1),
                    at(1, 1, 0), at(1, 1, 1), at(1, 2, 0), at(1, 2, 1), at(1, 3, 0), at(1, 3, 1)}));
    }
    const Values dy = random_values(static_cast<int64_t>(base[0].size()), 3);
    const auto gradient =
        run_one(with(pool<Resample_backward_attributes>(mode, padding, window, stride, pre, post),
                     {input("dy", {2, 3, 4, 3, 2}, DOUBLE),
                      mode == kMaximum ? input("index", {2, 3, 4, 3, 2}, INT32) : nullptr},
                     {output(DOUBLE, x_dims)}),
                {dy, base.size() > 1 ? base[1] : Values{}});
    for (int64_t i = 0; i < count; i += 17) {
      Values moved = x;
      moved[static_cast<size_t>(i)] += 0.25;
      const Values y = run_one(describe(), {moved});
      double slope = 0;
      for (size_t j = 0; j < y.size(); ++j) slope += dy[j] * (y[j] - base[0][j]) / 0.25;
      EXPECT_NEAR(gradient.at(static_cast<size_t>(i)), slope, 1e-9) << i;
    }
  }
}

TEST(Resample, IndicesThatNameNothingAreIgnored) {
  const auto attributes =
      pool<Resample_backward_attributes>(kMaximum, NEG_INF_PAD, {2}, {2}, {1}, {1});
  EXPECT_EQ(run_one(with(attributes, {input("dy", {1, 1, 3}), input("index", {1, 1, 3}, INT32)},
                         {output(FLOAT, {1, 1, 4})}),
                    {{1, 2, 3}, {0, 99, -5}}),
            (Values{0, 0, 0, 0}));
}

TEST(Resample, FractionsThatAreWhole) {
  const auto attributes = row(kMaximum, NEG_INF_PAD, 1, 1, 0, 0)
                              .set_window(std::vector<Fraction>{{4, 2}})
                              .set_stride(std::vector<Fraction>{{2, 1}});
  EXPECT_EQ(pooled(attributes, {1, 3, 2, 0}), (Values{3, 2}));
  expect_refused(
      with(row(kMaximum, NEG_INF_PAD, 1, 1, 0, 0).set_window(std::vector<Fraction>{{3, 2}}),
           {input("x", {1, 1, 4})}, {output()}),
      error_code_t::INVALID_VALUE, {"field window, entry 0", "a whole number"});
}

TEST(Resample, ShapesAndMistakes) {
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED, value = error_code_t::INVALID_VALUE;
  const auto unset = error_code_t::ATTRIBUTE_NOT_SET;
  const auto square = [](ResampleMode_t mode) {
    return pool<Resample_attributes>(mode, NEG_INF_PAD, {3, 3}, {2, 2}, {1, 1}, {1, 1})
        .set_generate_index(true);
  };
  const TensorPtr x = input("x", {2, 8, 7, 9}), y = output(), index = output(INT8);
  expect_accepted(with(square(kMaximum), {x}, {y, index}));
  EXPECT_EQ(y->get_dim(), (Dims{2, 8, 4, 5}));
  EXPECT_EQ(y->get_stride(), (Dims{160, 1, 40, 8}));
  EXPECT_EQ(index->get_stride(), y->get_stride());
  expect_refused(with(square(kWhole), {x}, {output(), output(INT8)}), value, {"port Index"});
  expect_refused(with(square(ResampleMode_t::BILINEAR), {x}, {output()}),
                 error_code_t::GRAPH_NOT_SUPPORTED, {"resample_mode", "BILINEAR", "MAXPOOL"});
  expect_refused(with(square(kMaximum).set_window({3}), {x}, {output()}), value,
                 {"field window", "1 entries", "accepted 2"});
  expect_refused(with(square(kMaximum).set_stride({2, 0}), {x}, {output()}), value,
                 {"field stride, entry 1", "1 or more"});
  expect_refused(with(square(kMaximum).set_window({3, 12}), {x}, {output()}), shape,
                 {"spatial dimension 1", "11", "12"});
  expect_refused(with(square(kMaximum), {input("x", {2, 8, 0, 9})}, {output()}), shape,
                 {"spatial dimension 0"});
  expect_refused(with(square(kMaximum), {input("x", {2, 8})}, {output()}), shape, {"2 dims"});
  expect_refused(with(square(kMaximum).set_window({9, 20}).set_pre_padding({9, 20}), {x},
                      {output(), output(INT8)}),
                 value, {"port Index", "INT8", "[9, 20]"});
  Resample_attributes no_choice =
      pool<Resample_attributes>(kMaximum, NEG_INF_PAD, {3, 3}, {2, 2}, {1, 1}, {1, 1});
  expect_refused(with(no_choice, {x}, {output()}), unset, {"field generate_index"});

  const auto backward = [](ResampleMode_t mode) {
    return pool<Resample_backward_attributes>(mode, NEG_INF_PAD, {3, 3}, {2, 2}, {1, 1}, {1, 1});
  };
  const TensorPtr dy = input("dy", {2, 8, 4, 5}), positions = input("index", {2, 8, 4, 5}, INT8);
  const auto dx = [] { return output(FLOAT, {2, 8, 7, 9}); };
  expect_accepted(with(backward(kMaximum), {dy, positions}, {dx()}));
  expect_accepted(with(backward(kInside), {dy}, {dx()}));
  expect_refused(with(backward(kMaximum), {dy, positions}, {output()}), unset, {"port DX"});
  expect_refused(with(backward(kMaximum), {dy}, {dx()}), unset, {"port Index"});
  expect_refused(with(backward(kInside), {dy, positions}, {dx()}), value, {"port Index"});
  expect_refused(with(backward(kInside), {input("dy", {2, 8, 4, 4})}, {dx()}), shape,
                 {"\"dy\"", "[2, 8, 4, 4]", "[2, 8, 4, 5]"});
  expect_refused(with(backward(kMaximum), {dy, input("index", {2, 8, 4, 4}, INT8)}, {dx()}), shape,
                 {"\"index\"", "[2, 8, 4, 5]"});
}

}  // namespace
}  // namespace warploom::test
