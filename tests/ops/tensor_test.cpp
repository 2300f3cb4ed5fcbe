#include <gtest/gtest.h>

#include <warploom/tensor.h>

namespace warploom::graph {
namespace {

TEST(TensorAttributes, Defaults) {
  const Tensor_attributes tensor;
  EXPECT_EQ(tensor.get_name(), "");
  EXPECT_EQ(tensor.get_data_type(), DataType_t::NOT_SET);
  EXPECT_FALSE(tensor.get_is_virtual());
  EXPECT_FALSE(tensor.get_is_pass_by_value());
  EXPECT_FALSE(tensor.has_uid());
  EXPECT_EQ(tensor.get_alignment(), 16);
  EXPECT_EQ(tensor.get_vector_count(), 1);
  EXPECT_EQ(tensor.get_vector_dimension(), -1);
}

TEST(TensorAttributes, ScalarsAreImplicitAndStored) {
  const Tensor_attributes tensor = 5.0f;
  EXPECT_EQ(tensor.get_data_type(), DataType_t::FLOAT);
  EXPECT_EQ(tensor.get_dim(), std::vector<int64_t>{1});
  EXPECT_EQ(tensor.get_stride(), std::vector<int64_t>{1});
  EXPECT_TRUE(tensor.get_is_pass_by_value());
  EXPECT_EQ(std::get<float>(*tensor.get_pass_by_value()), 5.0f);
  EXPECT_EQ(Tensor_attributes(1).get_data_type(), DataType_t::INT32);
  EXPECT_EQ(Tensor_attributes(int64_t{1}).get_data_type(), DataType_t::INT64);
  EXPECT_EQ(Tensor_attributes(1.0).get_data_type(), DataType_t::DOUBLE);
  EXPECT_EQ(Tensor_attributes(half(1.0f)).get_data_type(), DataType_t::HALF);
  EXPECT_EQ(Tensor_attributes(bfloat16(1.0f)).get_data_type(), DataType_t::BFLOAT16);
  EXPECT_TRUE(tensor.validate().is_good());
}

TEST(TensorAttributes, ConstantsBecomeRuntimeParameters) {
  Tensor_attributes tensor(2.5, ScalarType::COMPILE_TIME_CONST);
  EXPECT_TRUE(tensor.get_has_compile_time_constant());
  EXPECT_FALSE(tensor.get_pass_by_value());
  EXPECT_TRUE(tensor.validate().is_good());
  tensor.set_as_runtime_parameter();
  EXPECT_FALSE(tensor.get_has_compile_time_constant());
  EXPECT_EQ(std::get<double>(*tensor.get_pass_by_value()), 2.5);
}

TEST(TensorAttributes, ZeroIsAUid) {
  Tensor_attributes tensor;
  EXPECT_TRUE(tensor.set_uid(0).has_uid());
  EXPECT_FALSE(tensor.clear_uid().has_uid());
}

TEST(TensorAttributes, VolumeOfEmptyTensors) {
  EXPECT_EQ(Tensor_attributes().set_dim({2, 3, 4}).get_volume(), 24);
  EXPECT_EQ(Tensor_attributes().set_dim({2, 0, 4}).get_volume(), 0);
}

void expect_refused(const Tensor_attributes& tensor, const char* part) {
  const error_t error = tensor.validate();
  EXPECT_EQ(error.code, error_code_t::ATTRIBUTE_NOT_SET);
  EXPECT_NE(error.err_msg.find("\"image\""), std::string::npos) << error.err_msg;
  EXPECT_NE(error.err_msg.find(part), std::string::npos) << error.err_msg;
}

TEST(TensorAttributes, ValidateNamesTheTensor) {
  const auto image = [] { return Tensor_attributes().set_name("image"); };
  expect_refused(image(), "dims not set");
  expect_refused(image().set_dim({1, 2}), "strides not set");
  expect_refused(image().set_dim({1, 2}).set_stride({1}), "2 dims and 1 strides");
  const auto shaped = [&] { return image().set_dim({1}).set_stride({1}); };
  expect_refused(shaped().set_is_virtual(true).set_is_pass_by_value(true), "virtual");
  expect_refused(Tensor_attributes(1.0f).set_name("image").set_is_pass_by_value(false), "true");
  expect_refused(Tensor_attributes(1.0f).set_name("image").set_compile_time_constant(2.0f),
                 "stored scalar");
  EXPECT_TRUE(shaped().validate().is_good());
}

}  // namespace
}  // namespace warploom::graph
