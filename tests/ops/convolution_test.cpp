#include <array>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using graph::Conv_fprop_attributes;

Conv_fprop_attributes conv(const Dims& pre, const Dims& post, const Dims& stride,
                           const Dims& dilation) {
  return Conv_fprop_attributes()
      .set_name("conv1")
      .set_pre_padding(pre)
      .set_post_padding(post)
      .set_stride(stride)
      .set_dilation(dilation);
}

Conv_fprop_attributes plain(int64_t padding = 0) {
  return conv({padding, padding}, {padding, padding}, {1, 1}, {1, 1});
}

Dims inferred_dims(const Conv_fprop_attributes& attributes, const Dims& x, const Dims& w) {
  const TensorPtr y = output();
  expect_accepted(with(attributes, {input("x", x), input("w", w)}, {y}));
  return y->get_dim();
}

TEST(ConvInference, OutputDims) {
  EXPECT_EQ(inferred_dims(plain(1), {16, 64, 56, 56}, {128, 64, 3, 3}), (Dims{16, 128, 56, 56}));
  EXPECT_EQ(inferred_dims(conv({1, 1}, {0, 0}, {2, 2}, {1, 1}), {1, 32, 416, 416}, {64, 32, 3, 3}),
            (Dims{1, 64, 208, 208}));
  EXPECT_EQ(inferred_dims(conv({1}, {2}, {2}, {3}), {2, 4, 20}, {6, 2, 3}), (Dims{2, 6, 9}));
  EXPECT_EQ(inferred_dims(conv({0, 1, 1}, {0, 1, 1}, {2, 14, 14}, {1, 1, 1}), {5, 3, 2, 14, 14},
                          {7, 3, 2, 3, 3}),
            (Dims{5, 7, 1, 1, 1}));
  // Empty tensors.
  EXPECT_EQ(inferred_dims(plain(1), {2, 32, 0, 5}, {4, 32, 2, 2}), (Dims{2, 4, 1, 6}));
  EXPECT_EQ(inferred_dims(plain(), {0, 3, 5, 5}, {4, 3, 3, 3}), (Dims{0, 4, 3, 3}));
  EXPECT_EQ(inferred_dims(plain(), {1, 3, 5, 5}, {0, 3, 3, 3}), (Dims{1, 0, 3, 3}));
  EXPECT_EQ(inferred_dims(plain(), {1, 0, 5, 5}, {2, 0, 3, 3}), (Dims{1, 2, 3, 3}));
}

TEST(ConvInference, StridesAreNhwcUnlessSet) {
  const TensorPtr y = output();
  expect_accepted(with(plain(1), {input("x", {2, 3, 4, 5}), input("w", {6, 3, 3, 3})}, {y}));
  EXPECT_EQ(y->get_stride(), (Dims{120, 1, 30, 6}));
  const TensorPtr own = output(DataType_t::FLOAT, {2, 6, 4, 5}, {200, 30, 6, 1});
  expect_accepted(with(plain(1), {input("x", {2, 3, 4, 5}), input("w", {6, 3, 3, 3})}, {own}));
  EXPECT_EQ(own->get_stride(), (Dims{200, 30, 6, 1}));
}

void expect_conv_refused(const Conv_fprop_attributes& attributes, const Dims& x, const Dims& w,
                         error_code_t code, std::initializer_list<std::string_view> parts) {
  expect_refused(with(attributes, {input("image", x), input("filter", w)}, {output()}), code,
                 parts);
}

TEST(ConvErrors, RanksAndFields) {
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED, value = error_code_t::INVALID_VALUE;
  expect_conv_refused(plain(), {2, 3}, {4, 3}, shape, {"\"image\" (port X)", "2 dims", "3 to 5"});
  expect_conv_refused(plain(), {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, shape, {"6 dims"});
  expect_conv_refused(plain(), {1, 3, 8, 8}, {4, 3, 3}, shape, {"\"filter\" (port W)", "3 dims"});
  expect_conv_refused(conv({1}, {1, 1}, {1, 1}, {1, 1}), {1, 3, 8, 8}, {4, 3, 3, 3}, value,
                      {"field pre_padding", "1 entries", "accepted 2"});
  expect_conv_refused(conv({1, 1}, {1, 1, 1}, {1, 1}, {1, 1}), {1, 3, 8, 8}, {4, 3, 3, 3}, value,
                      {"field post_padding", "3 entries"});
  expect_conv_refused(conv({1, -1}, {1, 1}, {1, 1}, {1, 1}), {1, 3, 8, 8}, {4, 3, 3, 3}, value,
                      {"field pre_padding, entry 1", "found -1", "0 or more"});
  expect_conv_refused(conv({0, 0}, {0, 0}, {1, 0}, {1, 1}), {1, 3, 8, 8}, {4, 3, 3, 3}, value,
                      {"field stride, entry 1", "found 0", "1 or more"});
  expect_conv_refused(conv({0, 0}, {0, 0}, {1, 1}, {-2, 1}), {1, 3, 8, 8}, {4, 3, 3, 3}, value,
                      {"field dilation, entry 0", "found -2", "1 or more"});
}

TEST(ConvErrors, Channels) {
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED;
  expect_conv_refused(
      plain(), {1, 7, 8, 8}, {4, 3, 3, 3}, shape,
      {"\"image\" (port X), dim 1 (channels)", "found 7", "multiple of 3", "\"filter\" (port W)"});
  expect_conv_refused(plain(), {1, 6, 8, 8}, {5, 2, 3, 3}, shape,
                      {"\"filter\" (port W), dim 0", "found 5", "3 groups"});
  expect_conv_refused(plain(), {1, 6, 8, 8}, {5, 0, 3, 3}, shape, {"channels", "found 6"});
  expect_conv_refused(plain(), {1, 0, 8, 8}, {5, 2, 3, 3}, shape, {"channels", "found 0"});
  expect_conv_refused(plain(), {1, 3, 8, 8}, {5, 3, 0, 3}, shape, {"dim 2 (window)", "found 0"});
}

// B69
TEST(ConvErrors, NegativeOutputNamesTheSpatialDimension) {
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED;
  expect_conv_refused(conv({0, 0}, {0, 0}, {2, 2}, {2, 2}), {1, 1, 4, 4}, {1, 1, 3, 3}, shape,
                      {"spatial dimension 0", "dim 2", "extent of 4", "window's 5", "5 or more"});
  expect_conv_refused(plain(), {1, 1, 3, 3}, {1, 1, 5, 3}, shape, {"spatial dimension 0"});
  expect_conv_refused(plain(), {1, 1, 3, 3}, {1, 1, 3, 5}, shape, {"spatial dimension 1"});
  expect_conv_refused(plain(), {1, 1, 0, 3}, {1, 1, 1, 1}, shape, {"spatial dimension 0"});
  const int64_t huge = INT64_MAX;
  expect_conv_refused(conv({huge, 0}, {huge, 0}, {1, 1}, {1, 1}), {1, 1, 3, 3}, {1, 1, 3, 3}, shape,
                      {"spatial dimension 0", "2^61"});
  expect_conv_refused(conv({0, 0}, {0, 0}, {1, 1}, {1, huge}), {1, 1, 3, 3}, {1, 1, 3, 3}, shape,
                      {"spatial dimension 1"});
  const int64_t large = int64_t{1} << 59;
  expect_conv_refused(conv({large, large}, {0, 0}, {1, 1}, {1, 1}), {1, 1, 3, 3}, {1, 1, 3, 3},
                      error_code_t::INVALID_VALUE, {"port Y", "dims", "below 2^63"});
}

TEST(ConvErrors, ContradictingOutput) {
  expect_refused(
      with(plain(), {input("x", {1, 3, 8, 8}), input("w", {4, 3, 3, 3})},
           {output(DataType_t::FLOAT, {1, 4, 8, 8})}),
      error_code_t::SHAPE_DEDUCTION_FAILED,
      {"CONV_FPROP \"conv1\"", "port Y), dim 2", "8 in [1, 4, 8, 8]", "6 of [1, 4, 6, 6]"});
}

// --- Values ---

// Straight from the definition, for any number of spatial dimensions up to 3 given as 3.
struct Problem {
  int64_t n, c, k, groups;
  std::array<int64_t, 3> x, w, pre, post, stride, dilation;
  bool is_flipped = false;

  int64_t y(size_t i) const {
    return 1 + (x[i] + pre[i] + post[i] - (dilation[i] * (w[i] - 1) + 1)) / stride[i];
  }
};

Values expected_values(const Problem& p, const Values& x, const Values& w) {
  Values y;
  const int64_t cg = p.c / p.groups, kg = p.k / p.groups;
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t yd = 0; yd < p.y(0); ++yd)
        for (int64_t yh = 0; yh < p.y(1); ++yh)
          for (int64_t yw = 0; yw < p.y(2); ++yw) {
            double sum = 0;
            for (int64_t c = 0; c < cg; ++c)
              for (int64_t rd = 0; rd < p.w[0]; ++rd)
                for (int64_t rh = 0; rh < p.w[1]; ++rh)
                  for (int64_t rw = 0; rw < p.w[2]; ++rw) {
                    const int64_t d = yd * p.stride[0] + rd * p.dilation[0] - p.pre[0];
                    const int64_t h = yh * p.stride[1] + rh * p.dilation[1] - p.pre[1];
                    const int64_t i = yw * p.stride[2] + rw * p.dilation[2] - p.pre[2];
                    if (d < 0 || d >= p.x[0] || h < 0 || h >= p.x[1] || i < 0 || i >= p.x[2])
                      continue;
                    const int64_t fd = p.is_flipped ? p.w[0] - 1 - rd : rd;
                    const int64_t fh = p.is_flipped ? p.w[1] - 1 - rh : rh;
                    const int64_t fw = p.is_flipped ? p.w[2] - 1 - rw : rw;
                    const int64_t channel = k / kg * cg + c;
                    sum += x[static_cast<size_t>(
                               (((n * p.c + channel) * p.x[0] + d) * p.x[1] + h) * p.x[2] + i)] *
                           w[static_cast<size_t>(
                               (((k * cg + c) * p.w[0] + fd) * p.w[1] + fh) * p.w[2] + fw)];
                  }
            y.push_back(sum);
          }
  return y;
}

Dims shape(int64_t a, int64_t b, const std::array<int64_t, 3>& spatial, size_t rank) {
  Dims dims{a, b};
  dims.insert(dims.end(), spatial.end() - static_cast<int64_t>(rank), spatial.end());
  return dims;
}

Dims last(const std::array<int64_t, 3>& values, size_t rank) {
  return Dims(values.end() - static_cast<int64_t>(rank), values.end());
}

void check_problem(const Problem& p, size_t rank) {
  const Dims x_dims = shape(p.n, p.c, p.x, rank);
  const Dims w_dims = shape(p.k, p.c / p.groups, p.w, rank);
  const TensorPtr x = input("x", x_dims, DataType_t::DOUBLE);
  const TensorPtr w = input("w", w_dims, DataType_t::DOUBLE);
  auto attributes =
      conv(last(p.pre, rank), last(p.post, rank), last(p.stride, rank), last(p.dilation, rank));
  if (p.is_flipped) attributes.set_convolution_mode(ConvolutionMode_t::CONVOLUTION);
  const Values x_values = random_values(x->get_volume(), 3);
  const Values w_values = random_values(w->get_volume(), 4);
  const Values found =
      run_one(with(attributes, {x, w}, {output(DataType_t::DOUBLE)}), {x_values, w_values});
  expect_near(found, expected_values(p, x_values, w_values), 0);
}

TEST(Convolution, OneToThreeDimensions) {
  check_problem({.n = 2,
                 .c = 3,
                 .k = 4,
                 .groups = 1,
                 .x = {1, 1, 9},
                 .w = {1, 1, 3},
                 .pre = {0, 0, 1},
                 .post = {0, 0, 2},
                 .stride = {1, 1, 2},
                 .dilation = {1, 1, 2}},
                1);
  check_problem({.n = 2,
                 .c = 3,
                 .k = 4,
                 .groups = 1,
                 .x = {1, 7, 6},
                 .w = {1, 3, 2},
                 .pre = {0, 1, 0},
                 .post = {0, 0, 1},
                 .stride = {1, 2, 1},
                 .dilation = {1, 1, 2}},
                2);
  check_problem({.n = 1,
                 .c = 2,
                 .k = 3,
                 .groups = 1,
                 .x = {4, 5, 6},
                 .w = {2, 3, 2},
                 .pre = {1, 0, 2},
                 .post = {0, 2, 1},
                 .stride = {2, 1, 3},
                 .dilation = {2, 1, 1}},
                3);
}

TEST(Convolution, GroupsAndDepthwise) {
  check_problem({.n = 2,
                 .c = 6,
                 .k = 9,
                 .groups = 3,
                 .x = {1, 5, 5},
                 .w = {1, 3, 3},
                 .pre = {0, 1, 1},
                 .post = {0, 1, 1},
                 .stride = {1, 1, 1},
                 .dilation = {1, 1, 1}},
                2);
  check_problem({.n = 1,
                 .c = 5,
                 .k = 10,
                 .groups = 5,
                 .x = {1, 6, 4},
                 .w = {1, 3, 3},
                 .pre = {0, 1, 1},
                 .post = {0, 1, 1},
                 .stride = {1, 2, 2},
                 .dilation = {1, 1, 1}},
                2);
}

TEST(Convolution, ConvolutionModeFlipsTheWindow) {
  check_problem({.n = 1,
                 .c = 2,
                 .k = 2,
                 .groups = 1,
                 .x = {3, 5, 4},
                 .w = {2, 3, 2},
                 .pre = {1, 1, 1},
                 .post = {1, 1, 1},
                 .stride = {1, 1, 1},
                 .dilation = {1, 1, 1},
                 .is_flipped = true},
                3);
}

TEST(Convolution, PaddingLargerThanTheWindow) {
  check_problem({.n = 1,
                 .c = 1,
                 .k = 1,
                 .groups = 1,
                 .x = {1, 2, 2},
                 .w = {1, 2, 2},
                 .pre = {0, 5, 3},
                 .post = {0, 4, 6},
                 .stride = {1, 2, 3},
                 .dilation = {1, 1, 1}},
                2);
}

// B70, and a filter without channels: sums over nothing.
TEST(Convolution, SumsOverNothingAreZero) {
  EXPECT_EQ(
      run_one(with(plain(1), {input("x", {2, 3, 0, 5}), input("w", {4, 3, 2, 2})}, {output()}),
              {{}, random_values(48)}),
      Values(2 * 4 * 1 * 6, 0.0));
  EXPECT_EQ(run_one(with(plain(), {input("x", {1, 0, 3, 3}), input("w", {2, 0, 3, 3})}, {output()}),
                    {{}, {}}),
            Values(2, 0.0));
  EXPECT_EQ(run_one(with(plain(), {input("x", {0, 1, 3, 3}), input("w", {2, 1, 3, 3})}, {output()}),
                    {{}, random_values(18)}),
            Values());
}

// B85
TEST(Convolution, WhatIsZeroIsExactlyZero) {
  Values image(25, 1.0), filter(25);
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = 0; j < 5; ++j)
      if (i < 2 || j < 2) image[i * 5 + j] = 0;
  for (size_t i = 0; i < 25; ++i) filter[i] = 1 - image[i];
  EXPECT_EQ(run_one(with(plain(), {input("x", {1, 1, 5, 5}), input("w", {1, 1, 5, 5})}, {output()}),
                    {image, filter}),
            Values{0.0});
}

// B75, B78
TEST(Convolution, Int8GivesExactInt32) {
  const Values x(64, 127), w(64, -128);
  EXPECT_EQ(run_one(with(plain().set_compute_data_type(DataType_t::INT32),
                         {input("x", {1, 64, 1, 1}, DataType_t::INT8),
                          input("w", {1, 64, 1, 1}, DataType_t::INT8)},
                         {output(DataType_t::INT32)}),
                    {x, w}),
            Values{64.0 * 127 * -128});
  // Stored as INT8 it saturates, once.
  EXPECT_EQ(run_one(with(plain().set_compute_data_type(DataType_t::INT32),
                         {input("x", {1, 64, 1, 1}, DataType_t::INT8),
                          input("w", {1, 64, 1, 1}, DataType_t::INT8)},
                         {output(DataType_t::INT8)}),
                    {x, w}),
            Values{-128});
}

TEST(Convolution, AnyStrides) {
  const Dims x_strides{0, 7, 50, 3}, w_strides{1, 2, 12, 40}, y_strides{1, 100, 20, 3};
  const TensorPtr packed_x = input("x", {2, 2, 3, 3}), packed_w = input("w", {2, 2, 2, 2});
  const Values x_one = random_values(18), w_values = random_values(16, 2);
  Values x_values = x_one;
  x_values.insert(x_values.end(), x_one.begin(), x_one.end());
  const Values expected =
      run_one(with(plain(), {packed_x, packed_w}, {output()}), {x_values, w_values});
  EXPECT_EQ(run_one(with(plain(),
                         {input("x", {2, 2, 3, 3}, DataType_t::FLOAT, x_strides),
                          input("w", {2, 2, 2, 2}, DataType_t::FLOAT, w_strides)},
                         {output(DataType_t::FLOAT, {2, 2, 2, 2}, y_strides)}),
                    {x_values, w_values}),
            expected);
}

}  // namespace
}  // namespace warploom::test
