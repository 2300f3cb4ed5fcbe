// What infer_and_validate asks of every tensor, whatever the operation.
#include <gtest/gtest.h>

#include "ops/operation_runner.h"
#include "ops/reflection.h"

namespace warploom::ops {
namespace {

using test::Dims;
using test::expect_accepted;
using test::expect_refused;
using test::input;
using test::output;
using test::result;
using test::TensorPtr;
using test::with;

graph::Pointwise_attributes relu() {
  return graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD).set_name("act");
}

void expect_input_refused(const TensorPtr& tensor, error_code_t code,
                          std::initializer_list<std::string_view> parts) {
  expect_refused(with(relu(), {tensor}, {output()}), code, parts);
  // A tensor by itself is checked alike.
  const error_t error = check_tensor(*tensor);
  EXPECT_EQ(error.code, code);
  EXPECT_NE(error.err_msg.find(tensor->get_name()), std::string::npos);
}

TEST(DataTypes, AreFilledFromTheGraph) {
  const GraphTypes types{DataType_t::HALF, DataType_t::DOUBLE, DataType_t::FLOAT};
  const TensorPtr x = input("x", {2}, DataType_t::NOT_SET);
  const TensorPtr middle = result(), y = output();
  Operation first = with(relu(), {x}, {middle}), second = with(relu(), {middle}, {y});
  ASSERT_TRUE(infer_and_validate(first, types).is_good());
  ASSERT_TRUE(infer_and_validate(second, types).is_good());
  EXPECT_EQ(x->get_data_type(), DataType_t::HALF);
  EXPECT_EQ(middle->get_data_type(), DataType_t::DOUBLE);
  EXPECT_EQ(y->get_data_type(), DataType_t::HALF);
  EXPECT_EQ(compute_data_type(first), DataType_t::FLOAT);
  // Again, with nothing changed.
  ASSERT_TRUE(infer_and_validate(first, types).is_good());
}

TEST(DataTypes, UnsetOnesAreNamed) {
  const auto types = [](DataType_t io, DataType_t compute) {
    return GraphTypes{io, DataType_t::NOT_SET, compute};
  };
  expect_refused(with(relu(), {input("x", {2}, DataType_t::NOT_SET)}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"tensor \"x\" (port IN_0)", "no data type"},
                 types(DataType_t::NOT_SET, DataType_t::FLOAT));
  expect_refused(with(relu(), {input("x", {2})}, {result("y")}), error_code_t::ATTRIBUTE_NOT_SET,
                 {"tensor \"y\" (port OUT_0)", "no data type"},
                 types(DataType_t::FLOAT, DataType_t::FLOAT));
  expect_refused(with(relu(), {input("x", {2})}, {output()}), error_code_t::ATTRIBUTE_NOT_SET,
                 {"compute data type", "found none"},
                 types(DataType_t::FLOAT, DataType_t::NOT_SET));
}

TEST(DataTypes, OthersAreNotSupported) {
  for (DataType_t type : {DataType_t::INT4, DataType_t::COMPLEX_FP32, DataType_t::INT8x32,
                          DataType_t::FAST_FLOAT_FOR_FP8}) {
    expect_refused(with(relu(), {input("x", {2}, type)}, {output()}),
                   error_code_t::GRAPH_NOT_SUPPORTED,
                   {"tensor \"x\"", "data type", to_string(type), "BFLOAT16"});
    expect_refused(with(relu().set_compute_data_type(type), {input("x", {2})}, {output()}),
                   error_code_t::GRAPH_NOT_SUPPORTED, {"compute data type", to_string(type)});
  }
}

TEST(TensorCheck, DimsAndStrides) {
  expect_input_refused(input("x", {2, -3}, DataType_t::FLOAT, {3, 1}), error_code_t::INVALID_VALUE,
                       {"tensor \"x\" (port IN_0), dim 1", "found -3", "0 or more"});
  expect_input_refused(input("x", {2, 3}, DataType_t::FLOAT, {-3, 1}), error_code_t::INVALID_VALUE,
                       {"stride 0", "found -3"});
  expect_input_refused(input("x", {1, 1, 1, 1, 1, 1, 1, 1, 2}), error_code_t::GRAPH_NOT_SUPPORTED,
                       {"9 dims", "at most 8"});
  expect_accepted(with(relu(), {input("x", {1, 1, 1, 1, 1, 1, 1, 2})}, {output()}));
  expect_input_refused(input("x", {int64_t{1} << 31, int64_t{1} << 31}, DataType_t::FLOAT, {0, 1}),
                       error_code_t::INVALID_VALUE, {"dims", "below 2^63"});
  expect_input_refused(
      input("x", {int64_t{1} << 40, int64_t{1} << 40, 0}, DataType_t::FLOAT, {0, 0, 1}),
      error_code_t::INVALID_VALUE, {"dims", "below 2^63"});
  expect_input_refused(input("x", {3, 2}, DataType_t::FLOAT, {int64_t{1} << 62, 1}),
                       error_code_t::INVALID_VALUE, {"strides", "below 2^63"});
  const TensorPtr shapeless = input("x", {2});
  shapeless->set_dim({});
  expect_input_refused(shapeless, error_code_t::ATTRIBUTE_NOT_SET, {"dims not set"});
  expect_input_refused(input("x", {2, 3}, DataType_t::FLOAT, {1}), error_code_t::ATTRIBUTE_NOT_SET,
                       {"2 dims and 1 strides"});
}

TEST(TensorCheck, Forms) {
  const TensorPtr reordered = input("x", {2});
  reordered->set_reordering_type(TensorReordering_t::F16x16);
  expect_input_refused(reordered, error_code_t::GRAPH_NOT_SUPPORTED, {"reordering", "F16x16"});
  reordered->set_reordering_type(TensorReordering_t::F8_128x4);
  expect_input_refused(reordered, error_code_t::INVALID_VALUE, {"F8_128x4", "found FLOAT"});
  reordered->set_data_type(DataType_t::FP8_E8M0);
  expect_input_refused(reordered, error_code_t::INVALID_VALUE, {"F8_128x4", "found [2]"});
  const TensorPtr vectors = input("x", {2});
  vectors->set_vector_count_and_dimension(4, 1);
  expect_input_refused(vectors, error_code_t::GRAPH_NOT_SUPPORTED, {"vector count", "found 4"});
  const TensorPtr aligned = input("x", {2});
  aligned->set_alignment(0);
  expect_input_refused(aligned, error_code_t::INVALID_VALUE, {"alignment", "found 0"});
  const TensorPtr ragged = input("x", {2});
  ragged->set_ragged_offset(input("offsets", {3}, DataType_t::INT32));
  expect_refused(with(relu(), {ragged}, {output()}), error_code_t::GRAPH_NOT_SUPPORTED,
                 {"\"x\"", "ragged"});
}

TEST(TensorCheck, OverlappingInputsAreFineOutputsAreNot) {
  const TensorPtr repeated = input("x", {2, 3}, DataType_t::FLOAT, {0, 1});
  const TensorPtr y = output();
  expect_accepted(with(relu(), {repeated}, {y}));
  EXPECT_EQ(y->get_stride(), (Dims{1, 2}));  // the input's order, packed

  const auto x = input("x", {2, 3});
  expect_refused(with(relu(), {x}, {output(DataType_t::FLOAT, {2, 3}, {0, 1})}),
                 error_code_t::INVALID_VALUE,
                 {"port OUT_0", "strides", "[0, 1] with dims [2, 3]", "[3, 1]"});
  expect_refused(with(relu(), {x}, {output(DataType_t::FLOAT, {2, 3}, {2, 1})}),
                 error_code_t::INVALID_VALUE, {"[2, 1] with dims [2, 3]"});
  expect_accepted(with(relu(), {input("x", {1, 1})}, {output(DataType_t::FLOAT, {1, 1}, {0, 0})}));
  expect_accepted(with(relu(), {input("x", {0, 3})}, {output(DataType_t::FLOAT, {0, 3}, {0, 0})}));
}

TEST(TensorCheck, OutputsOfTheUser) {
  const auto x = input("x", {2, 3});
  expect_refused(with(relu(), {x}, {output(DataType_t::FLOAT, {2, 4})}),
                 error_code_t::SHAPE_DEDUCTION_FAILED,
                 {"port OUT_0", "dim 1", "4 in [2, 4]", "3 of [2, 3]"});
  expect_refused(with(relu(), {x}, {output(DataType_t::FLOAT, {1, 2, 3})}),
                 error_code_t::SHAPE_DEDUCTION_FAILED, {"[1, 2, 3]", "[2, 3]"});
  expect_refused(with(relu(), {x}, {output(DataType_t::FLOAT, {2, -3})}),
                 error_code_t::INVALID_VALUE, {"port OUT_0", "dim 1", "-3"});
  expect_refused(with(relu(), {x}, {output(DataType_t::FLOAT, {2, 3}, {1})}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"port OUT_0", "2 dims and 1 strides"});
  const TensorPtr on_host = output();
  on_host->set_is_pass_by_value(true);
  expect_refused(with(relu(), {x}, {on_host}), error_code_t::INVALID_VALUE, {"passed by value"});
}

TEST(StoredScalars, TakeTheRankOfTheirOperation) {
  const auto scalar = std::make_shared<graph::Tensor_attributes>(2.0f);
  const auto multiply = graph::Pointwise_attributes().set_mode(PointwiseMode_t::MUL);
  expect_accepted(with(multiply, {scalar, input("x", {2, 3, 4})}, {output()}));
  EXPECT_EQ(scalar->get_dim(), (Dims{1, 1, 1}));
  EXPECT_EQ(scalar->get_stride(), (Dims{1, 1, 1}));
  // Where several operations read it, the least rank serves all.
  expect_accepted(with(multiply, {scalar, input("x", {3, 4})}, {output()}));
  EXPECT_EQ(scalar->get_dim(), (Dims{1, 1}));
  expect_accepted(with(multiply, {input("x", {2, 3, 4}), scalar}, {output()}));
  EXPECT_EQ(scalar->get_dim(), (Dims{1, 1}));

  const auto alone = std::make_shared<graph::Tensor_attributes>(2.0f);
  const TensorPtr sum = output(DataType_t::FLOAT, {1, 1});
  expect_refused(with(multiply, {alone, alone}, {output(DataType_t::FLOAT, {2})}),
                 error_code_t::SHAPE_DEDUCTION_FAILED, {"port OUT_0"});
  const auto other = std::make_shared<graph::Tensor_attributes>(2.0f);
  expect_accepted(with(multiply, {other, other}, {sum}));
  EXPECT_EQ(other->get_dim(), (Dims{1, 1}));
}

TEST(StoredScalars, MustBeScalarsOfTheirOwnType) {
  const auto wide = std::make_shared<graph::Tensor_attributes>(2.0f);
  wide->set_name("x").set_dim({2}).set_stride({1});
  expect_input_refused(wide, error_code_t::INVALID_VALUE, {"stored scalar", "one element"});
  const auto retyped = std::make_shared<graph::Tensor_attributes>(2.0f);
  retyped->set_name("x").set_data_type(DataType_t::HALF);
  expect_input_refused(retyped, error_code_t::INVALID_VALUE, {"found HALF", "accepted FLOAT"});
}

}  // namespace
}  // namespace warploom::ops
