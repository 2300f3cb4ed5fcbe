#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using graph::Reshape_attributes;
using graph::Slice_attributes;
using graph::Transpose_attributes;

constexpr ops::GraphTypes kNoTypes{};

Reshape_attributes reshape(const Dims& dims, const Dims& strides = {},
                           ReshapeMode_t mode = ReshapeMode_t::VIEW_ONLY) {
  return Reshape_attributes().set_name("move").set_dim(dims).set_stride(strides).set_reshape_mode(
      mode);
}
Transpose_attributes transpose(const Dims& permutation) {
  return Transpose_attributes().set_name("move").set_permutation(permutation);
}
Slice_attributes slice(std::vector<std::pair<int64_t, int64_t>> slices, const Dims& steps = {}) {
  return Slice_attributes().set_name("move").set_slices(std::move(slices)).set_strides(steps);
}

template <class Attributes>
TensorPtr inferred(const Attributes& attributes, const TensorPtr& x, TensorPtr y = result()) {
  expect_accepted(with(attributes, {x}, {y}), kNoTypes);
  return y;
}

// --- Types ---

TEST(Movement, KeepsTheTypeAndNeedsNoComputeType) {
  for (DataType_t type : {DataType_t::HALF, DataType_t::BOOLEAN, DataType_t::INT64}) {
    const auto x = input("x", {2, 3}, type);
    EXPECT_EQ(inferred(reshape({6}), x)->get_data_type(), type);
    EXPECT_EQ(inferred(transpose({1, 0}), x)->get_data_type(), type);
    EXPECT_EQ(inferred(slice({{0, 1}, {0, 3}}), x)->get_data_type(), type);
  }
  expect_refused(with(transpose({1, 0}), {input("x", {2, 3})}, {output(DataType_t::HALF)}),
                 error_code_t::INVALID_VALUE,
                 {"TRANSPOSE \"move\"", "port Y), data type", "found HALF", "FLOAT", "\"x\""});
}

TEST(Movement, Int64MovesExactly) {
  const double large = 9007199254740994;
  const auto x = input("x", {2, 1}, DataType_t::INT64);
  EXPECT_EQ(run_one(with(transpose({1, 0}), {x}, {output()}), {{large, -large}}),
            (Values{large, -large}));
}

// --- Reshape ---

TEST(Reshape, ViewKeepsTheMemory) {
  // A row-major 2 x 3 x 4 seen as 6 x 4.
  EXPECT_EQ(run_one(with(reshape({6, 4}), {input("x", {2, 3, 4})}, {output()}), {count_up(24)}),
            count_up(24));
  // A column-major matrix seen as the line of memory that it is.
  EXPECT_EQ(run_one(with(reshape({6}), {input("x", {2, 3}, DataType_t::FLOAT, {1, 2})}, {output()}),
                    {{1, 2, 3, 4, 5, 6}}),
            (Values{1, 4, 2, 5, 3, 6}));
  // Gaps stay gaps.
  EXPECT_EQ(run_one(with(reshape({2, 2, 2}, {8, 2, 1}),
                         {input("x", {2, 4}, DataType_t::FLOAT, {8, 1})}, {output()}),
                    {count_up(8)}),
            count_up(8));
}

TEST(Reshape, LogicalKeepsTheOrder) {
  EXPECT_EQ(run_one(with(reshape({6}, {}, ReshapeMode_t::LOGICAL),
                         {input("x", {2, 3}, DataType_t::FLOAT, {1, 2})}, {output()}),
                    {{1, 2, 3, 4, 5, 6}}),
            (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(run_one(with(reshape({3, 2}, {1, 5}, ReshapeMode_t::LOGICAL),
                         {input("x", {2, 3}, DataType_t::FLOAT, {7, 2})}, {output()}),
                    {count_up(6)}),
            count_up(6));
  EXPECT_EQ(
      run_one(with(reshape({0, 5}, {}, ReshapeMode_t::LOGICAL), {input("x", {3, 0})}, {output()}),
              {{}}),
      Values());
}

TEST(Reshape, DimsAndStrides) {
  const auto x = input("x", {2, 3, 4, 5});
  EXPECT_EQ(inferred(reshape({6, 20}), x)->get_stride(), (Dims{20, 1}));
  EXPECT_EQ(inferred(reshape({2, 3, 20}, {}, ReshapeMode_t::LOGICAL), x)->get_stride(),
            (Dims{60, 1, 3}));
  const TensorPtr by_result = result();
  by_result->set_dim({120}).set_stride({1});
  EXPECT_EQ(inferred(reshape({}), x, by_result)->get_dim(), Dims{120});
}

TEST(ReshapeErrors, Shapes) {
  const auto x = input("x", {2, 3});
  expect_refused(with(reshape({}), {x}, {output()}), error_code_t::ATTRIBUTE_NOT_SET,
                 {"RESHAPE \"move\"", "field dim"});
  expect_refused(with(reshape({4}), {x}, {output()}), error_code_t::SHAPE_DEDUCTION_FAILED,
                 {"port Y), dims", "found [4]", "the 6 elements of tensor \"x\""});
  expect_refused(with(reshape({-2, -3}), {x}, {output()}), error_code_t::INVALID_VALUE,
                 {"field dim, entry 0", "found -2"});
  expect_refused(with(reshape({int64_t{1} << 62, 4}), {x}, {output()}),
                 error_code_t::SHAPE_DEDUCTION_FAILED, {"6 elements"});
  expect_refused(with(reshape({6}, {1, 1}), {x}, {output()}), error_code_t::INVALID_VALUE,
                 {"field stride", "1 strides"});
  expect_refused(with(reshape({6}, {-1}), {x}, {output()}), error_code_t::INVALID_VALUE,
                 {"field stride, entry 0", "found -1"});
  expect_refused(with(reshape({6}), {x}, {output(DataType_t::FLOAT, {3, 2})}),
                 error_code_t::SHAPE_DEDUCTION_FAILED, {"[3, 2]", "[6]"});
  expect_refused(with(reshape({6}, {2}), {x}, {output(DataType_t::FLOAT, {6}, {1})}),
                 error_code_t::INVALID_VALUE, {"port Y), strides", "found [1]", "[2]"});
}

TEST(ReshapeErrors, AViewMustStayOnItsElements) {
  const auto code = error_code_t::SHAPE_DEDUCTION_FAILED;
  const auto x = input("x", {2, 3});
  expect_refused(
      with(reshape({6}, {2}), {x}, {output()}), code,
      {"port Y), strides", "[2] for dims [6]", "(dims [2, 3], strides [3, 1])", "LOGICAL"});
  const auto padded = input("x", {2, 3}, DataType_t::FLOAT, {4, 1});
  expect_refused(with(reshape({6}), {padded}, {output()}), code, {"[1] for dims [6]"});
  expect_refused(with(reshape({6}, {INT64_MAX}), {x}, {output()}), code, {"strides"});
  expect_accepted(with(reshape({6}, {}, ReshapeMode_t::LOGICAL), {padded}, {output()}));
  expect_accepted(with(reshape({2, 3, 1}, {4, 1, 77}), {padded}, {output()}));
}

// --- Transpose ---

TEST(Transpose, MovesDims) {
  EXPECT_EQ(run_one(with(transpose({1, 0}), {input("x", {2, 3})}, {output()}), {count_up(6)}),
            (Values{1, 4, 2, 5, 3, 6}));
  const Values x = count_up(24);
  Values expected;
  for (size_t k = 0; k < 4; ++k)
    for (size_t i = 0; i < 2; ++i)
      for (size_t j = 0; j < 3; ++j) expected.push_back(x[i * 12 + j * 4 + k]);
  EXPECT_EQ(
      run_one(with(transpose({2, 0, 1}), {input("x", {2, 3, 4}, DataType_t::FLOAT, {1, 9, 40})},
                   {output(DataType_t::FLOAT, {4, 2, 3}, {6, 3, 1})}),
              {x}),
      expected);
}

TEST(Transpose, StridesArePermuted) {
  const auto x = input("x", {2, 3, 4});
  const TensorPtr y = inferred(transpose({2, 0, 1}), x);
  EXPECT_EQ(y->get_dim(), (Dims{4, 2, 3}));
  EXPECT_EQ(y->get_stride(), (Dims{1, 12, 4}));
  // A view may repeat elements, an output may not.
  const auto repeated = input("x", {2, 3}, DataType_t::FLOAT, {0, 1});
  EXPECT_EQ(inferred(transpose({1, 0}), repeated)->get_stride(), (Dims{1, 0}));
  EXPECT_EQ(inferred(transpose({1, 0}), repeated, output())->get_stride(), (Dims{2, 1}));
}

TEST(Movement, OnlyAViewMayRepeatElements) {
  const auto repeated = input("x", {2, 3}, DataType_t::FLOAT, {0, 1});
  const auto twice = [](const Dims& dims, const Dims& strides) {
    const TensorPtr y = result();
    y->set_dim(dims).set_stride(strides);
    return y;
  };
  const auto refused = [](graph::Operation operation) {
    expect_refused(std::move(operation), error_code_t::INVALID_VALUE,
                   {"port Y), strides", "an address of its own"}, kNoTypes);
  };
  expect_accepted(with(transpose({1, 0}), {repeated}, {twice({3, 2}, {1, 0})}), kNoTypes);
  refused(with(transpose({1, 0}), {repeated}, {twice({3, 2}, {0, 1})}));
  refused(with(transpose({1, 0}), {repeated}, {output(DataType_t::NOT_SET, {3, 2}, {1, 0})}));
  expect_accepted(with(reshape({6}, {}, ReshapeMode_t::LOGICAL), {repeated}, {result()}), kNoTypes);
  refused(with(reshape({6}, {0}, ReshapeMode_t::LOGICAL), {repeated}, {result()}));
  expect_accepted(with(reshape({3, 2}, {1, 0}), {repeated}, {result()}), kNoTypes);
  refused(with(reshape({3, 2}, {1, 0}), {repeated}, {output()}));
  expect_accepted(with(slice({{0, 2}, {0, 3}}, {1, 2}), {repeated}, {twice({2, 2}, {0, 2})}),
                  kNoTypes);
  refused(with(slice({{0, 2}, {0, 3}}, {1, 2}), {repeated}, {twice({2, 2}, {0, 1})}));
  EXPECT_EQ(inferred(slice({{0, 2}, {0, 3}}), repeated, output())->get_stride(), (Dims{1, 2}));
}

TEST(TransposeErrors, Permutations) {
  const auto x = input("x", {2, 3});
  for (const Dims& permutation : {Dims{0}, Dims{0, 1, 2}})
    expect_refused(with(transpose(permutation), {x}, {output()}), error_code_t::INVALID_VALUE,
                   {"field permutation", "2 entries", "\"x\""});
  for (const Dims& permutation : {Dims{0, 0}, Dims{0, 2}, Dims{0, -1}})
    expect_refused(with(transpose(permutation), {x}, {output()}), error_code_t::INVALID_VALUE,
                   {"field permutation, entry 1", "each of 0 to 1 once"});
  expect_refused(with(transpose({1, 0}), {x}, {output(DataType_t::FLOAT, {2, 3})}),
                 error_code_t::SHAPE_DEDUCTION_FAILED, {"2 in [2, 3]", "3 of [3, 2]"});
}

// --- Slice ---

TEST(Slice, TakesRangesAndSteps) {
  EXPECT_EQ(run_one(with(slice({{1, 3}, {0, 4}}, {1, 3}), {input("x", {3, 4})}, {output()}),
                    {count_up(12)}),
            (Values{5, 8, 9, 12}));
  EXPECT_EQ(
      run_one(with(slice({{2, 3}, {1, 4}}, {}), {input("x", {3, 4}, DataType_t::FLOAT, {1, 5})},
                   {output(DataType_t::FLOAT, {1, 3}, {0, 2})}),
              {count_up(12)}),
      (Values{10, 11, 12}));
  EXPECT_EQ(
      run_one(with(slice({{1, 1}, {0, 4}}), {input("x", {3, 4})}, {output()}), {count_up(12)}),
      Values());
}

TEST(Slice, DimsAndStrides) {
  const auto x = input("x", {5, 6}, DataType_t::FLOAT, {1, 5});
  const TensorPtr view = inferred(slice({{0, 5}, {1, 6}}, {2, 3}), x);
  EXPECT_EQ(view->get_dim(), (Dims{3, 2}));
  EXPECT_EQ(view->get_stride(), (Dims{2, 15}));
  // An output is packed, in the order of its source.
  EXPECT_EQ(inferred(slice({{0, 5}, {1, 6}}, {2, 3}), x, output())->get_stride(), (Dims{1, 3}));
  EXPECT_EQ(inferred(slice({{0, 5}, {1, 6}}, {INT64_MAX, 1}), x)->get_dim(), (Dims{1, 5}));
}

TEST(SliceErrors, Ranges) {
  const auto x = input("x", {3, 4});
  const auto code = error_code_t::INVALID_VALUE;
  expect_refused(with(slice({{0, 1}}), {x}, {output()}), code,
                 {"SLICE \"move\"", "field slices", "1 entries", "accepted 2"});
  for (auto range : {std::pair<int64_t, int64_t>{-1, 2}, {2, 1}, {0, 5}, {5, 5}})
    expect_refused(with(slice({{0, 1}, range}), {x}, {output()}), code,
                   {"field slices, entry 1", "limit <= 4", "\"x\""});
  expect_refused(with(slice({{0, 1}, {0, 4}}, {1}), {x}, {output()}), code,
                 {"field slice_strides", "1 entries"});
  for (int64_t step : {0, -1})
    expect_refused(with(slice({{0, 1}, {0, 4}}, {1, step}), {x}, {output()}), code,
                   {"field slice_strides, entry 1", "1 or more"});
}

}  // namespace
}  // namespace warploom::test
