#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using enum DataType_t;
using graph::Concatenate_attributes;

Concatenate_attributes along(int64_t axis) {
  return Concatenate_attributes().set_name("concat").set_axis(axis);
}

TEST(Concatenate, OneAfterAnother) {
  const Values a = count_up(4), b = count_up(6, 10), c = count_up(2, 100);
  EXPECT_EQ(run_one(with(along(1), {input("a", {2, 2}), input("b", {2, 3}), input("c", {2, 1})},
                         {output()}),
                    {a, b, c}),
            (Values{1, 2, 10, 20, 30, 100, 3, 4, 40, 50, 60, 200}));
  EXPECT_EQ(run_one(with(along(0), {input("a", {2, 2}), input("c", {1, 2})}, {output()}), {a, c}),
            (Values{1, 2, 3, 4, 100, 200}));
  EXPECT_EQ(run_one(with(along(0), {input("a", {0, 2}), input("c", {1, 2})}, {output()}), {{}, c}),
            (Values{100, 200}));
}

TEST(Concatenate, AnyStridesAndTypes) {
  for (DataType_t type : {FLOAT, HALF, INT64, BOOLEAN, FP8_E5M2, FP4_E2M1}) {
    const Values a{0, 1, 1, 0}, b{1, 0};
    EXPECT_EQ(run_one(with(along(1), {input("a", {2, 2}, type, {1, 2}), input("b", {2, 1}, type)},
                           {output(type, {2, 3}, {1, 4})}),
                      {a, b}),
              (Values{0, 1, 1, 1, 0, 0}));
  }
}

TEST(Concatenate, StridesAreInTheOrderOfTheFirst) {
  const TensorPtr y = output();
  expect_accepted(
      with(along(1), {input("a", {2, 3, 4}, FLOAT, {12, 1, 3}), input("b", {2, 2, 4})}, {y}));
  EXPECT_EQ(y->get_dim(), (Dims{2, 5, 4}));
  EXPECT_EQ(y->get_stride(), (Dims{20, 1, 5}));
}

TEST(Concatenate, ManyInputs) {
  std::vector<TensorPtr> tensors;
  std::vector<Values> values;
  Values expected;
  for (int i = 0; i < 64; ++i) {
    tensors.push_back(input("x" + std::to_string(i), {1}));
    values.push_back({static_cast<double>(i)});
    expected.push_back(i);
  }
  EXPECT_EQ(run_one(with(along(0), tensors, {output()}), values), expected);
  tensors.push_back(tensors[0]);
  expect_refused(with(along(0), tensors, {output()}), error_code_t::INVALID_VALUE,
                 {"65 inputs", "at most 64"});
}

TEST(Concatenate, Mistakes) {
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED, value = error_code_t::INVALID_VALUE;
  const TensorPtr a = input("first", {2, 3}), b = input("second", {2, 4});
  expect_refused(with(along(0), {a, b}, {output()}), shape,
                 {"\"second\" (port X1), dim 1", "found 4", "accepted 3", "\"first\" (port X0)"});
  expect_refused(with(along(2), {a, b}, {output()}), value, {"field axis", "found 2", "0 to 1"});
  expect_refused(with(along(-1), {a, b}, {output()}), value, {"field axis", "found -1"});
  expect_refused(with(Concatenate_attributes(), {a, b}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field axis"});
  expect_refused(with(along(1), {}, {output()}), error_code_t::ATTRIBUTE_NOT_SET, {"port X0"});
  expect_refused(with(along(1), {a, nullptr, b}, {output()}), error_code_t::ATTRIBUTE_NOT_SET,
                 {"port X1"});
  expect_refused(with(along(1), {a, input("third", {2, 4}, HALF)}, {output()}), value,
                 {"\"third\"", "HALF", "FLOAT"});
  expect_refused(with(along(1), {a, input("third", {2, 4, 1})}, {output()}), shape, {"3 dims"});
  expect_refused(with(along(1).set_in_place_index(2), {a, b}, {output()}), value,
                 {"in_place_index", "0 to 1"});
  const int64_t huge = int64_t{1} << 62;
  expect_refused(
      with(along(0), {input("x", {huge}, INT8), input("y", {huge}, INT8)}, {output(INT8)}), value,
      {"2^63"});
}

}  // namespace
}  // namespace warploom::test
