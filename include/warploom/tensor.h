#pragma once
/// Tensors as a graph sees them: a description, never data.
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <warploom/error.h>
#include <warploom/types.h>

namespace warploom {

/// A scalar given with the graph instead of through the variant pack. The order of alternatives is
/// part of file formats.
using pass_by_values_t = std::variant<int64_t, int32_t, half, float, double, bfloat16>;

/// The data type that the stored alternative has: INT64, INT32, HALF, FLOAT, DOUBLE or BFLOAT16.
WARPLOOM_EXPORT DataType_t data_type_of(const pass_by_values_t& value);

namespace graph {

enum class ScalarType { RUNTIME_PARAM, COMPILE_TIME_CONST };

/// Description of one tensor. Dims are logical (N, C, spatial... for images, whatever the memory
/// layout); strides are in elements and carry the layout; a stride of 0 repeats. At most 8 dims.
/// Setters return *this so that they can be chained.
///
/// A tensor is one of: a graph input or output (memory given at execute), a virtual intermediate
/// (no memory of the user's), or a scalar: stored with the graph (`pass_by_value`), baked into the
/// plan (compile-time constant), or read from a host pointer at execute
/// (`set_is_pass_by_value(true)` without a stored value).
class WARPLOOM_EXPORT Tensor_attributes {
 public:
  using uid_t = int64_t;
  using pass_by_values_t = warploom::pass_by_values_t;

  Tensor_attributes() = default;
  /// A stored scalar: dims and strides {1}, the matching data type. Implicit on purpose:
  /// `graph.tensor(5.0f)`.
  Tensor_attributes(float value);
  Tensor_attributes(half value);
  Tensor_attributes(bfloat16 value);
  Tensor_attributes(int32_t value);
  Tensor_attributes(int64_t value);
  Tensor_attributes(double value);
  /// A scalar that is stored with the graph (RUNTIME_PARAM) or baked into plans
  /// (COMPILE_TIME_CONST).
  Tensor_attributes(pass_by_values_t value, ScalarType type);
  template <class Foreign, class Own = typename OwnFloat16<Foreign>::type>
  Tensor_attributes(Foreign value, ScalarType type = ScalarType::RUNTIME_PARAM)
      : Tensor_attributes(pass_by_values_t(std::bit_cast<Own>(value)), type) {}

  const std::string& get_name() const { return name_; }
  Tensor_attributes& set_name(const std::string& name);

  /// NOT_SET takes the graph's io type (inputs and outputs) or intermediate type (virtual tensors)
  /// at validate().
  DataType_t get_data_type() const { return data_type_; }
  Tensor_attributes& set_data_type(DataType_t type);

  const std::vector<int64_t>& get_dim() const { return dim_; }
  Tensor_attributes& set_dim(const std::vector<int64_t>& dim);
  /// Product of the dims; 0 for a tensor without elements.
  int64_t get_volume() const;

  const std::vector<int64_t>& get_stride() const { return stride_; }
  Tensor_attributes& set_stride(const std::vector<int64_t>& stride);

  bool get_is_virtual() const { return is_virtual_; }
  Tensor_attributes& set_is_virtual(bool is_virtual);
  /// Same as set_is_virtual(!is_output).
  Tensor_attributes& set_output(bool is_output);

  bool get_is_pass_by_value() const { return is_pass_by_value_; }
  /// The value is read from a host pointer in the variant pack, during the call of execute.
  Tensor_attributes& set_is_pass_by_value(bool is_pass_by_value);
  std::optional<pass_by_values_t> get_pass_by_value() const { return pass_by_value_; }

  std::optional<pass_by_values_t> get_compile_time_constant() const {
    return compile_time_constant_;
  }
  bool get_has_compile_time_constant() const { return compile_time_constant_.has_value(); }
  Tensor_attributes& set_compile_time_constant(pass_by_values_t value);
  /// Turns a compile-time constant into a stored run-time scalar.
  Tensor_attributes& set_as_runtime_parameter();

  TensorReordering_t get_reordering_type() const { return reordering_type_; }
  Tensor_attributes& set_reordering_type(TensorReordering_t type);

  /// Bytes that the pointer given at execute is a multiple of; 16 unless set. Pointers that are
  /// less aligned still run.
  int64_t get_alignment() const { return alignment_; }
  Tensor_attributes& set_alignment(int64_t bytes);

  int64_t get_vector_count() const { return vector_count_; }
  int64_t get_vector_dimension() const { return vector_dimension_; }
  Tensor_attributes& set_vector_count_and_dimension(int64_t count, int64_t dimension);

  /// Any value, 0 included, may be set; unset uids are numbered 1, 2, 3 ... at
  /// build_operation_graph().
  uid_t get_uid() const { return uid_; }
  bool has_uid() const { return uid_assigned_; }
  Tensor_attributes& set_uid(uid_t uid);
  Tensor_attributes& clear_uid();

  std::shared_ptr<Tensor_attributes> get_ragged_offset() const { return ragged_offset_; }
  /// Offsets [b + 1, 1, 1, 1], in elements, of a ragged batch.
  Tensor_attributes& set_ragged_offset(std::shared_ptr<Tensor_attributes> offset);

  /// ATTRIBUTE_NOT_SET when dims or strides are missing or their ranks differ, or when the kinds
  /// above are mixed. The data type is not checked here.
  error_t validate() const;

 private:
  std::string name_;
  DataType_t data_type_ = DataType_t::NOT_SET;
  std::vector<int64_t> dim_;
  std::vector<int64_t> stride_;
  bool is_virtual_ = false;
  bool is_pass_by_value_ = false;
  std::optional<pass_by_values_t> pass_by_value_;
  std::optional<pass_by_values_t> compile_time_constant_;
  TensorReordering_t reordering_type_ = TensorReordering_t::NONE;
  uid_t uid_ = 0;
  bool uid_assigned_ = false;
  std::shared_ptr<Tensor_attributes> ragged_offset_;
  int64_t alignment_ = 16;
  int64_t vector_count_ = 1;
  int64_t vector_dimension_ = -1;
};

using TensorPtr = std::shared_ptr<Tensor_attributes>;

}  // namespace graph
}  // namespace warploom
