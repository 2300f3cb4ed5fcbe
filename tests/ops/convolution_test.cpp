#include <gtest/gtest.h>

#include "ops/convolution_problem.h"

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

// --- Gradients ---

graph::Conv_dgrad_attributes dgrad() {
  return graph::Conv_dgrad_attributes()
      .set_name("dgrad")
      .set_padding({1, 1})
      .set_stride({2, 2})
      .set_dilation({1, 1});
}

graph::Conv_wgrad_attributes wgrad() {
  return graph::Conv_wgrad_attributes()
      .set_name("wgrad")
      .set_padding({1, 1})
      .set_stride({2, 2})
      .set_dilation({1, 1});
}

TEST(ConvGradients, StridesAreNhwcUnlessSet) {
  const TensorPtr dx = output(DataType_t::FLOAT, {2, 3, 4, 5});
  expect_accepted(with(dgrad(), {input("dy", {2, 6, 2, 3}), input("w", {6, 3, 3, 3})}, {dx}));
  EXPECT_EQ(dx->get_stride(), (Dims{60, 1, 15, 3}));
  const TensorPtr dw = output(DataType_t::FLOAT, {6, 3, 3, 3});
  expect_accepted(with(wgrad(), {input("dy", {2, 6, 2, 3}), input("x", {2, 3, 4, 5})}, {dw}));
  EXPECT_EQ(dw->get_stride(), (Dims{27, 1, 9, 3}));
}

TEST(ConvGradients, Mistakes) {
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED;
  const TensorPtr dy = input("dy", {2, 6, 2, 3});
  const TensorPtr w = input("filter", {6, 3, 3, 3}), x = input("image", {2, 3, 4, 5});
  const auto dims = [](const Dims& values) { return output(DataType_t::FLOAT, values); };
  expect_refused(with(dgrad(), {dy, w}, {output()}), error_code_t::ATTRIBUTE_NOT_SET,
                 {"CONV_DGRAD \"dgrad\"", "port DX", "dims of the image"});
  expect_refused(with(wgrad(), {dy, x}, {output()}), error_code_t::ATTRIBUTE_NOT_SET,
                 {"CONV_WGRAD \"wgrad\"", "port DW", "dims of the filter"});
  expect_refused(with(dgrad(), {dy, w}, {dims({2, 3, 4, 8})}), shape,
                 {"\"dy\" (port DY), dims", "[2, 6, 2, 3]", "[2, 6, 2, 4]", "port DX"});
  expect_refused(with(dgrad(), {dy, w}, {dims({2, 4, 4, 5})}), shape,
                 {"port DX), dim 1 (channels)", "found 4", "multiple of 3"});
  expect_refused(with(dgrad(), {dy, w}, {dims({2, 3, 20})}), shape, {"\"filter\"", "4 dims"});
  expect_refused(with(wgrad(), {dy, x}, {dims({5, 3, 3, 3})}), shape, {"\"dy\"", "[2, 5, 2, 3]"});
  expect_refused(with(wgrad(), {dy, x}, {dims({6, 3, 3, 0})}), shape, {"dim 3 (window)"});
  expect_refused(with(wgrad().set_stride({2}), {dy, x}, {dims({6, 3, 3, 3})}),
                 error_code_t::INVALID_VALUE, {"field stride", "1 entries"});
  const int64_t huge = int64_t{1} << 60;
  expect_refused(with(dgrad().set_stride({huge, huge}), {input("dy", {1, 6, 1, 1}), w},
                      {dims({1, 3, huge, huge})}),
                 error_code_t::INVALID_VALUE, {"port DX", "below 2^63"});
}

// --- Values ---

void check_problem(const ConvolutionProblem& p, size_t rank) {
  const TensorPtr x = input("x", p.x_dims(rank), DataType_t::DOUBLE);
  const TensorPtr w = input("w", p.w_dims(rank), DataType_t::DOUBLE);
  const TensorPtr dy = input("dy", p.y_dims(rank), DataType_t::DOUBLE);
  const Values x_values = random_values(x->get_volume(), 3);
  const Values w_values = random_values(w->get_volume(), 4);
  const Values dy_values = random_values(dy->get_volume(), 5);
  Values y(dy_values.size()), dx(x_values.size()), dw(w_values.size());
  for_each_term(p, [&](size_t x_at, size_t w_at, size_t y_at) {
    y[y_at] += x_values[x_at] * w_values[w_at];
    dx[x_at] += dy_values[y_at] * w_values[w_at];
    dw[w_at] += dy_values[y_at] * x_values[x_at];
  });
  using namespace graph;
  const auto result = [](const Dims& dims) { return output(DataType_t::DOUBLE, dims); };
  EXPECT_EQ(run_one(with(p.attributes<Conv_fprop_attributes>(rank), {x, w}, {result({})}),
                    {x_values, w_values}),
            y);
  EXPECT_EQ(
      run_one(with(p.attributes<Conv_dgrad_attributes>(rank), {dy, w}, {result(p.x_dims(rank))}),
              {dy_values, w_values}),
      dx);
  EXPECT_EQ(
      run_one(with(p.attributes<Conv_wgrad_attributes>(rank), {dy, x}, {result(p.w_dims(rank))}),
              {dy_values, x_values}),
      dw);
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

// B67: pixels that no window reads get 0, and dilation meets stride.
TEST(Convolution, StridesThatSkip) {
  check_problem({.n = 2,
                 .c = 2,
                 .k = 3,
                 .groups = 1,
                 .x = {1, 9, 8},
                 .w = {1, 3, 3},
                 .pre = {0, 2, 2},
                 .post = {0, 2, 2},
                 .stride = {1, 2, 2},
                 .dilation = {1, 2, 2}},
                2);
  check_problem({.n = 1,
                 .c = 2,
                 .k = 2,
                 .groups = 2,
                 .x = {1, 11, 10},
                 .w = {1, 2, 2},
                 .pre = {0, 0, 1},
                 .post = {0, 0, 0},
                 .stride = {1, 3, 3},
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

// The other variants of B70.
TEST(Convolution, GradientsOverNothingAreZero) {
  using namespace graph;
  const ConvolutionProblem no_rows{.n = 2,
                                   .c = 3,
                                   .k = 4,
                                   .groups = 1,
                                   .x = {1, 0, 5},
                                   .w = {1, 2, 2},
                                   .pre = {0, 1, 1},
                                   .post = {0, 1, 1},
                                   .stride = {1, 1, 1},
                                   .dilation = {1, 1, 1}};
  check_problem(no_rows, 2);
  ConvolutionProblem other = no_rows;
  other.x = {1, 4, 5};
  other.n = 0;
  check_problem(other, 2);
  other.n = 2;
  other.k = 0;
  check_problem(other, 2);
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
