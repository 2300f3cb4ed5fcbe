#include "ops/check.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <warploom/frozen_graph.h>

#include "base/data_type.h"
#include "base/float8.h"
#include "ops/families.h"
#include "ops/reflection.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using graph::Tensor_attributes;

constexpr const char* kComputeTypes =
    "FLOAT, HALF, BFLOAT16, DOUBLE, INT8, UINT8, INT32, INT64 or BOOLEAN";
constexpr const char* kAcceptedTypes =
    "FLOAT, HALF, BFLOAT16, DOUBLE, INT8, UINT8, INT32, INT64, BOOLEAN, FP8_E4M3, FP8_E5M2, "
    "FP8_E8M0 or FP4_E2M1";

template <class Attributes>
constexpr bool kMovesOnly = std::is_same_v<Attributes, graph::Reshape_attributes> ||
                            std::is_same_v<Attributes, graph::Transpose_attributes> ||
                            std::is_same_v<Attributes, graph::Slice_attributes> ||
                            std::is_same_v<Attributes, graph::Concatenate_attributes>;

// What an operation takes beside tensors that are laid out by strides alone.
struct Layouts {
  bool reordered = false;
  bool ragged = false;  // it checks the offsets itself
};

template <class Attributes>
concept HasLengths = requires {
  Attributes::SEQ_LEN_Q;
};

template <class Attributes>
constexpr Layouts kLayouts = {
    .reordered = std::is_same_v<Attributes, graph::Block_scale_quantize_attributes> ||
                 std::is_same_v<Attributes, graph::Block_scale_dequantize_attributes> ||
                 std::is_same_v<Attributes, graph::SDPA_mxfp8_forward>,
    .ragged = HasLengths<Attributes>};

// What is wrong with a tensor by itself: the part of the message after its name.
struct Defect {
  error_code_t code = error_code_t::OK;
  std::string place, found, accepted;
};

Defect extents_defect(const Tensor_attributes& tensor) {
  const auto& dims = tensor.get_dim();
  const auto& strides = tensor.get_stride();
  if (dims.size() > static_cast<size_t>(ir::kMaxRank))
    return {error_code_t::GRAPH_NOT_SUPPORTED, "", show(dims.size()) + " dims",
            "at most " + show(ir::kMaxRank)};
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0)
      return {error_code_t::INVALID_VALUE, fmt::format(", dim {}", i), show(dims[i]), "0 or more"};
    if (i < strides.size() && strides[i] < 0)
      return {error_code_t::INVALID_VALUE, fmt::format(", stride {}", i), show(strides[i]),
              "0 or more"};
  }
  return {};
}

// Of an element; that of the largest where the type is not known yet, or none.
int64_t element_bytes(const Tensor_attributes& tensor) {
  const int64_t bytes = warploom::detail::get_data_type_size(tensor.get_data_type());
  return bytes == 0 ? 8 : bytes;
}

Defect volume_defect(const Tensor_attributes& tensor) {
  int64_t bytes = element_bytes(tensor);
  for (int64_t dim : tensor.get_dim())
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(dim, 1), &bytes))
      return {error_code_t::INVALID_VALUE, ", dims", show(tensor.get_dim()),
              "a size in bytes below 2^63"};
  return {};
}

Defect size_defect(const Tensor_attributes& tensor) {
  if (Defect defect = volume_defect(tensor); defect.code != error_code_t::OK) return defect;
  const auto& dims = tensor.get_dim();
  const auto& strides = tensor.get_stride();
  const int64_t bytes = element_bytes(tensor);
  int64_t scaled = 0;
  int64_t last = 1, step = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    if (__builtin_mul_overflow(std::max<int64_t>(dims[i], 1) - 1, strides[i], &step) ||
        __builtin_add_overflow(last, step, &last) || __builtin_mul_overflow(last, bytes, &scaled))
      return {error_code_t::INVALID_VALUE, ", strides", show(strides),
              "offsets in bytes below 2^63"};
  return {};
}

Defect reordering_defect(const Tensor_attributes& tensor) {
  const TensorReordering_t reordering = tensor.get_reordering_type();
  if (reordering == TensorReordering_t::NONE) return {};
  if (reordering != TensorReordering_t::F8_128x4)
    return {error_code_t::GRAPH_NOT_SUPPORTED, ", reordering", show(reordering),
            "NONE or F8_128x4"};
  const DataType_t type = tensor.get_data_type();
  if (type != DataType_t::NOT_SET &&
      (!base::is_small_floating(type) || type == DataType_t::FP4_E2M1))
    return {error_code_t::INVALID_VALUE, ", data type with reordering F8_128x4", show(type),
            "an 8-bit float"};
  if (tensor.get_dim().size() < 2)
    return {error_code_t::INVALID_VALUE, ", dims with reordering F8_128x4", show(tensor.get_dim()),
            "2 or more"};
  return {};
}

Defect form_defect(const Tensor_attributes& tensor) {
  if (tensor.get_vector_count() != 1)
    return {error_code_t::GRAPH_NOT_SUPPORTED, ", vector count", show(tensor.get_vector_count()),
            "1"};
  if (tensor.get_alignment() < 1)
    return {error_code_t::INVALID_VALUE, ", alignment", show(tensor.get_alignment()),
            "1 or more bytes"};
  if (!is_stored_scalar(tensor)) return {};
  const auto& value =
      tensor.get_pass_by_value() ? tensor.get_pass_by_value() : tensor.get_compile_time_constant();
  if (tensor.get_volume() != 1)
    return {error_code_t::INVALID_VALUE, ", dims of a stored scalar", show(tensor.get_dim()),
            "one element"};
  if (tensor.get_data_type() != data_type_of(*value) &&
      tensor.get_data_type() != DataType_t::NOT_SET)
    return {error_code_t::INVALID_VALUE, ", data type of a stored scalar",
            show(tensor.get_data_type()), show(data_type_of(*value)) + ", the type of its value"};
  return {};
}

Defect tensor_defect(const Tensor_attributes& tensor) {
  for (auto check : {extents_defect, size_defect, form_defect, reordering_defect})
    if (Defect defect = check(tensor); defect.code != error_code_t::OK) return defect;
  return {};
}

/// A port whose name is written only when something is wrong with it: shapes are inferred again and
/// again.
struct PortOf {
  const Site& site;
  size_t port;
  bool is_input;
  std::string text() const { return is_input ? site.input(port) : site.output(port); }
};

error_t check_complete(const PortOf& subject, const Tensor_attributes& tensor, Layouts layouts) {
  const Site& site = subject.site;
  if (error_t error = tensor.validate(); error.is_bad())
    return site.refuse(error.code, subject.text(), error.err_msg, "a complete description");
  if (Defect defect = tensor_defect(tensor); defect.code != error_code_t::OK)
    return site.refuse(defect.code, subject.text() + defect.place, defect.found, defect.accepted);
  if (tensor.get_ragged_offset() && !layouts.ragged)
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, subject.text(), "a ragged offset",
                       "none");
  if (!layouts.reordered && tensor.get_reordering_type() != TensorReordering_t::NONE)
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, subject.text() + ", reordering",
                       show(tensor.get_reordering_type()), "NONE for this operation");
  return {};
}

error_t fill_type(const PortOf& subject, Tensor_attributes& tensor, DataType_t otherwise) {
  if (tensor.get_data_type() == DataType_t::NOT_SET) tensor.set_data_type(otherwise);
  if (tensor.get_data_type() == DataType_t::NOT_SET)
    return subject.site.refuse(
        error_code_t::ATTRIBUTE_NOT_SET, subject.text(), "no data type",
        std::string(kAcceptedTypes) + ", set for the tensor or for the graph");
  if (!base::is_supported(tensor.get_data_type()))
    return subject.site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, subject.text() + ", data type",
                               show(tensor.get_data_type()), kAcceptedTypes);
  return {};
}

template <class Attributes>
error_t fill_types(Attributes& attributes, const Site& site, const GraphTypes& types) {
  if (attributes.compute_data_type == DataType_t::NOT_SET)
    attributes.compute_data_type = types.compute;
  if (attributes.compute_data_type == DataType_t::NOT_SET && !kMovesOnly<Attributes>)
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, "compute data type", "none",
                       std::string(kComputeTypes) + ", set for the operation or for the graph");
  if (attributes.compute_data_type != DataType_t::NOT_SET &&
      !base::is_computable(attributes.compute_data_type))
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, "compute data type",
                       show(attributes.compute_data_type), kComputeTypes);

  auto of_graph = [&](const Tensor_attributes& tensor) {
    return tensor.get_is_virtual() ? types.intermediate : types.io;
  };
  for (size_t port = 0; port < attributes.inputs.size(); ++port)
    if (const TensorPtr& tensor = attributes.inputs[port])
      CHECK_WARPLOOM_ERROR(fill_type({site, port, true}, *tensor, of_graph(*tensor)));
  for (size_t port = 0; port < attributes.outputs.size(); ++port)
    if (const TensorPtr& tensor = attributes.outputs[port]) {
      // What only moves elements keeps their type.
      DataType_t otherwise =
          kMovesOnly<Attributes> ? attributes.inputs[0]->get_data_type() : of_graph(*tensor);
      CHECK_WARPLOOM_ERROR(fill_type({site, port, false}, *tensor, otherwise));
    }
  return {};
}

// A stored scalar has ones for dims, as many as the operation's other tensors have. One that
// several operations read keeps the least rank, which fits all of them.
template <class Attributes>
void promote_scalars(const Attributes& attributes) {
  size_t rank = 0;
  for (const auto* tensors : {&attributes.inputs, &attributes.outputs})
    for (const TensorPtr& tensor : *tensors)
      if (rank < 1 && tensor && !is_stored_scalar(*tensor)) rank = tensor->get_dim().size();
  if (rank < 1) return;
  for (const TensorPtr& tensor : attributes.inputs) {
    if (!tensor || !is_stored_scalar(*tensor) || tensor->get_volume() != 1) continue;
    if (tensor->get_dim().size() > 1 && tensor->get_dim().size() <= rank) continue;
    tensor->set_dim(std::vector<int64_t>(rank, 1)).set_stride(std::vector<int64_t>(rank, 1));
  }
}

template <class Attributes>
error_t check_outputs(const Attributes& attributes, const Site& site) {
  for (size_t port = 0; port < attributes.outputs.size(); ++port) {
    if (!attributes.outputs[port]) continue;
    const Tensor_attributes& tensor = *attributes.outputs[port];
    const PortOf subject{site, port, false};
    CHECK_WARPLOOM_ERROR(check_complete(subject, tensor, kLayouts<Attributes>));
    if (tensor.get_is_pass_by_value())
      return site.refuse(error_code_t::INVALID_VALUE, subject.text(), "a tensor passed by value",
                         "one with memory of its own, or a virtual one");
    if constexpr (kMovesOnly<Attributes>)
      if (tensor.get_is_virtual() && is_view(attributes)) continue;
    if (elements_overlap(tensor.get_dim(), tensor.get_stride()))
      return site.refuse(
          error_code_t::INVALID_VALUE, subject.text() + ", strides",
          fmt::format("{} with dims {}", show(tensor.get_stride()), show(tensor.get_dim())),
          "an address of its own for every element, e.g. " +
              show(row_major_strides(tensor.get_dim())));
  }
  return {};
}

template <class Attributes>
error_t infer_and_validate_one(Attributes& attributes, const GraphTypes& types) {
  const Site site(attributes);
  CHECK_WARPLOOM_ERROR(fill_types(attributes, site, types));
  promote_scalars(attributes);
  for (size_t port = 0; port < attributes.inputs.size(); ++port)
    if (attributes.inputs[port])
      CHECK_WARPLOOM_ERROR(
          check_complete({site, port, true}, *attributes.inputs[port], kLayouts<Attributes>));
  for (size_t port = 0; port < attributes.outputs.size(); ++port) {
    if (!attributes.outputs[port]) continue;
    if (Defect defect = extents_defect(*attributes.outputs[port]); defect.code != error_code_t::OK)
      return site.refuse(defect.code, site.output(port) + defect.place, defect.found,
                         defect.accepted);
  }
  CHECK_WARPLOOM_ERROR(validate(attributes, site));
  CHECK_WARPLOOM_ERROR(infer(attributes, site));
  return check_outputs(attributes, site);
}

}  // namespace

bool is_stored_scalar(const Tensor_attributes& tensor) {
  return tensor.get_pass_by_value() || tensor.get_has_compile_time_constant();
}

error_t infer_dims(const Site& site, size_t port, Tensor_attributes& output, const Dims& dims) {
  if (output.get_dim().empty()) output.set_dim(dims);
  const Dims& found = output.get_dim();
  if (found.size() != dims.size())
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.output(port) + ", dims",
                       show(found), show(dims) + ", as inferred from the inputs");
  for (size_t i = 0; i < dims.size(); ++i)
    if (found[i] != dims[i])
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.output(port, i),
                         fmt::format("{} in {}", found[i], show(found)),
                         fmt::format("{} of {}, as inferred from the inputs", dims[i], show(dims)));
  // Before default strides are made of them.
  if (Defect defect = volume_defect(output); defect.code != error_code_t::OK)
    return site.refuse(defect.code, site.output(port) + defect.place, defect.found,
                       defect.accepted);
  return {};
}

error_t infer_nhwc(const Site& site, size_t port, Tensor_attributes& output, const Dims& dims) {
  CHECK_WARPLOOM_ERROR(infer_dims(site, port, output, dims));
  if (output.get_stride().empty()) output.set_stride(nhwc_strides(dims));
  return {};
}

error_t check_target(const Site& site, const Dims& dim_field, const Dims& stride_field,
                     const Tensor_attributes& output) {
  if (dim_field.empty() && output.get_dim().empty())
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.field("dim"), "nothing set",
                       "dims here or on the result");
  const Dims& dims = dim_field.empty() ? output.get_dim() : dim_field;
  const Dims& strides = output.get_stride().empty() ? stride_field : output.get_stride();
  if (!stride_field.empty() && strides != stride_field)
    return site.refuse(error_code_t::INVALID_VALUE, site.output(0) + ", strides", show(strides),
                       show(stride_field) + ", as field stride says");
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < 0)
      return site.refuse(error_code_t::INVALID_VALUE, site.field("dim", i), show(dims[i]),
                         "0 or more");
  if (!strides.empty() && strides.size() != dims.size())
    return site.refuse(error_code_t::INVALID_VALUE, site.field("stride"), show(strides),
                       show(dims.size()) + " strides, one for each dim");
  for (size_t i = 0; i < strides.size(); ++i)
    if (strides[i] < 0)
      return site.refuse(error_code_t::INVALID_VALUE, site.field("stride", i), show(strides[i]),
                         "0 or more");
  return {};
}

error_t infer_and_validate(Operation& operation, const GraphTypes& types) {
  CHECK_WARPLOOM_ERROR(check_presence(operation));
  return std::visit([&](auto& attributes) { return infer_and_validate_one(attributes, types); },
                    operation);
}

error_t check_tensor(const Tensor_attributes& tensor) {
  CHECK_WARPLOOM_ERROR(tensor.validate());
  const Defect defect = tensor_defect(tensor);
  if (defect.code == error_code_t::OK) return {};
  return {defect.code, fmt::format("tensor \"{}\"{}: found {}, accepted {}", tensor.get_name(),
                                   defect.place, defect.found, defect.accepted)};
}

}  // namespace warploom::ops
