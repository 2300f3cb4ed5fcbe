#include "ops/reflection.h"

#include <set>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::ops {
namespace {

using test::expect_refused;
using test::input;
using test::output;
using test::with;

TEST(Reflection, TagsAreUniqueAndLeadBack) {
  std::set<std::string_view> tags;
  for_each_operation_type([&]<class Attributes>(std::type_identity<Attributes>) {
    EXPECT_TRUE(tags.insert(Attributes::kTag).second);
    const auto operation = make_operation(Attributes::kTag);
    ASSERT_TRUE(operation);
    EXPECT_TRUE(std::holds_alternative<Attributes>(*operation));
    EXPECT_EQ(tag(*operation), Attributes::kTag);
    EXPECT_EQ(input_ports(*operation).size(), std::size(Attributes::kInputs));
    EXPECT_EQ(output_ports(*operation).size(), std::size(Attributes::kOutputs));
  });
  EXPECT_EQ(tags.size(), std::variant_size_v<Operation>);
  EXPECT_FALSE(make_operation("NO_SUCH_OPERATION"));
}

TEST(Reflection, FieldsAreSeenAndChanged) {
  Operation operation = graph::Conv_fprop_attributes().set_padding({1, 2});
  std::set<std::string> names;
  for_each_field(operation, [&](std::string_view name, auto& value, bool is_required) {
    names.insert(std::string(name));
    EXPECT_TRUE(is_required);
    if constexpr (std::is_same_v<decltype(value), std::vector<int64_t>&>)
      if (name == "stride") value = {3, 3};
  });
  EXPECT_EQ(names, (std::set<std::string>{"pre_padding", "post_padding", "stride", "dilation",
                                          "math_mode"}));
  EXPECT_EQ(std::get<graph::Conv_fprop_attributes>(operation).get_stride(),
            (std::vector<int64_t>{3, 3}));
}

TEST(Reflection, EqualityAndHashFollowTheFields) {
  const Operation relu = graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD);
  Operation same = graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD).set_name("x");
  inputs(same) = {input("a", {2})};
  EXPECT_TRUE(equal(relu, same));
  EXPECT_EQ(hash(relu), hash(same));

  const Operation others[] = {
      graph::Pointwise_attributes().set_mode(PointwiseMode_t::TANH_FWD),
      graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD).set_relu_lower_clip(0),
      graph::Pointwise_attributes()
          .set_mode(PointwiseMode_t::RELU_FWD)
          .set_compute_data_type(DataType_t::HALF),
      graph::Reduction_attributes(),
  };
  std::set<uint64_t> hashes{hash(relu)};
  for (const Operation& other : others) {
    EXPECT_FALSE(equal(relu, other));
    EXPECT_TRUE(hashes.insert(hash(other)).second);
  }
}

TEST(Reflection, HashIsTheSameInEveryBuild) {
  const Operation slice = graph::Slice_attributes().set_slices({{0, 2}, {1, 3}});
  // Computed elsewhere, by FNV-1a from the description in hash.h.
  EXPECT_EQ(hash(slice), 8555491638134515579u);
}

TEST(Presence, MissingPortsAreNamed) {
  for_each_operation_type([&]<class Attributes>(std::type_identity<Attributes>) {
    Attributes attributes;
    attributes.set_name("first");
    Operation operation = attributes;
    const error_t error = check_presence(operation);
    EXPECT_EQ(error.code, error_code_t::ATTRIBUTE_NOT_SET);
    const graph::Port& input = Attributes::kInputs[0];
    const graph::Port& missing = input.is_optional ? Attributes::kOutputs[0] : input;
    for (const std::string& part : {std::string(Attributes::kTag), std::string("\"first\""),
                                    "port " + std::string(missing.name)})
      EXPECT_NE(error.err_msg.find(part), std::string::npos) << error.err_msg;
  });
  expect_refused(with(graph::Matmul_attributes(), {input("x", {2, 2})}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"port B", "accepted a tensor"});
  expect_refused(with(graph::Matmul_attributes(), {input("x", {2, 2}), input("y", {2, 2})}, {}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"port C"});
}

TEST(Presence, MissingFieldsAreNamed) {
  const auto x = input("x", {1, 1, 4, 4});
  expect_refused(with(graph::Conv_fprop_attributes(), {x, x}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field pre_padding"});
  expect_refused(with(graph::Conv_fprop_attributes().set_padding({0, 0}).set_dilation({1, 1}),
                      {x, x}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field stride"});
  expect_refused(with(graph::Conv_fprop_attributes()
                          .set_padding({0, 0})
                          .set_stride({1, 1})
                          .set_dilation({1, 1})
                          .set_convolution_mode(ConvolutionMode_t::NOT_SET),
                      {x, x}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field math_mode"});
  expect_refused(with(graph::Pointwise_attributes(), {x}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field mode"});
  expect_refused(with(graph::Reduction_attributes(), {x}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field mode"});
  expect_refused(with(graph::Transpose_attributes(), {x}, {output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field permutation"});
  expect_refused(with(graph::Slice_attributes(), {x}, {output()}), error_code_t::ATTRIBUTE_NOT_SET,
                 {"field slices"});
  expect_refused(
      with(graph::Reshape_attributes().set_reshape_mode(ReshapeMode_t::NOT_SET), {x}, {output()}),
      error_code_t::ATTRIBUTE_NOT_SET, {"field reshape_mode"});
}

TEST(Presence, TooManyTensorsAreRefused) {
  const auto x = input("x", {2});
  expect_refused(with(graph::Reduction_attributes(), {x, x}, {output()}),
                 error_code_t::INVALID_VALUE, {"2 inputs", "at most 1"});
}

}  // namespace
}  // namespace warploom::ops
