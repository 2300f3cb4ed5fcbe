#include <array>

#include <warploom/tensor.h>

namespace warploom {

DataType_t data_type_of(const pass_by_values_t& value) {
  // In the order of the alternatives.
  static constexpr std::array kTypes{DataType_t::INT64, DataType_t::INT32,  DataType_t::HALF,
                                     DataType_t::FLOAT, DataType_t::DOUBLE, DataType_t::BFLOAT16};
  static_assert(kTypes.size() == std::variant_size_v<pass_by_values_t>);
  return kTypes[value.index()];
}

namespace graph {

Tensor_attributes::Tensor_attributes(pass_by_values_t value, ScalarType type)
    : data_type_(data_type_of(value)), dim_{1}, stride_{1}, is_pass_by_value_(true) {
  (type == ScalarType::RUNTIME_PARAM ? pass_by_value_ : compile_time_constant_) = value;
}
Tensor_attributes::Tensor_attributes(float value)
    : Tensor_attributes(pass_by_values_t(value), ScalarType::RUNTIME_PARAM) {}
Tensor_attributes::Tensor_attributes(half value)
    : Tensor_attributes(pass_by_values_t(value), ScalarType::RUNTIME_PARAM) {}
Tensor_attributes::Tensor_attributes(bfloat16 value)
    : Tensor_attributes(pass_by_values_t(value), ScalarType::RUNTIME_PARAM) {}
Tensor_attributes::Tensor_attributes(int32_t value)
    : Tensor_attributes(pass_by_values_t(value), ScalarType::RUNTIME_PARAM) {}
Tensor_attributes::Tensor_attributes(int64_t value)
    : Tensor_attributes(pass_by_values_t(value), ScalarType::RUNTIME_PARAM) {}
Tensor_attributes::Tensor_attributes(double value)
    : Tensor_attributes(pass_by_values_t(value), ScalarType::RUNTIME_PARAM) {}

Tensor_attributes& Tensor_attributes::set_name(const std::string& name) {
  name_ = name;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_data_type(DataType_t type) {
  data_type_ = type;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_dim(const std::vector<int64_t>& dim) {
  dim_ = dim;
  return *this;
}

int64_t Tensor_attributes::get_volume() const {
  int64_t volume = 1;
  for (int64_t dim : dim_)
    if (__builtin_mul_overflow(volume, dim, &volume)) return INT64_MAX;
  return volume;
}

Tensor_attributes& Tensor_attributes::set_stride(const std::vector<int64_t>& stride) {
  stride_ = stride;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_is_virtual(bool is_virtual) {
  is_virtual_ = is_virtual;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_output(bool is_output) {
  return set_is_virtual(!is_output);
}

Tensor_attributes& Tensor_attributes::set_is_pass_by_value(bool is_pass_by_value) {
  is_pass_by_value_ = is_pass_by_value;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_compile_time_constant(pass_by_values_t value) {
  compile_time_constant_ = value;
  is_pass_by_value_ = true;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_as_runtime_parameter() {
  if (compile_time_constant_) pass_by_value_ = compile_time_constant_;
  compile_time_constant_.reset();
  return *this;
}

Tensor_attributes& Tensor_attributes::set_reordering_type(TensorReordering_t type) {
  reordering_type_ = type;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_alignment(int64_t bytes) {
  alignment_ = bytes;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_vector_count_and_dimension(int64_t count,
                                                                     int64_t dimension) {
  vector_count_ = count;
  vector_dimension_ = dimension;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_uid(uid_t uid) {
  uid_ = uid;
  uid_assigned_ = true;
  return *this;
}

Tensor_attributes& Tensor_attributes::clear_uid() {
  uid_ = 0;
  uid_assigned_ = false;
  return *this;
}

Tensor_attributes& Tensor_attributes::set_ragged_offset(std::shared_ptr<Tensor_attributes> offset) {
  ragged_offset_ = std::move(offset);
  return *this;
}

error_t Tensor_attributes::validate() const {
  auto bad = [this](std::string_view text) {
    return error_t(error_code_t::ATTRIBUTE_NOT_SET,
                   "tensor \"" + name_ + "\": " + std::string(text));
  };
  if (dim_.empty()) return bad("dims not set; call set_dim");
  if (stride_.empty()) return bad("strides not set; call set_stride");
  if (dim_.size() != stride_.size())
    return bad("found " + std::to_string(dim_.size()) + " dims and " +
               std::to_string(stride_.size()) + " strides; accepted as many strides as dims");
  if (is_virtual_ && is_pass_by_value_)
    return bad("both virtual and passed by value; accepted one of them");
  if (is_virtual_ && compile_time_constant_)
    return bad("both virtual and a compile-time constant; accepted one of them");
  if (pass_by_value_ && compile_time_constant_)
    return bad("both a stored scalar and a compile-time constant; accepted one of them");
  if ((pass_by_value_ || compile_time_constant_) && !is_pass_by_value_)
    return bad("holds a value but set_is_pass_by_value(false) was called; accepted true");
  return {};
}

}  // namespace graph
}  // namespace warploom
