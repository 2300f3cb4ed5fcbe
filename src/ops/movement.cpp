#include <algorithm>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using graph::Concatenate_attributes;
using graph::Reshape_attributes;
using graph::Slice_attributes;
using graph::Tensor_attributes;
using graph::Transpose_attributes;

// All have one output Y and, but for the last, one input X.
constexpr size_t kX = 0, kY = 0;

template <class Attributes>
error_t check_equal_types(const Attributes& attributes, const Site& site) {
  const DataType_t x = attributes.inputs[kX]->get_data_type();
  const DataType_t y = attributes.outputs[kY]->get_data_type();
  if (x == y) return {};
  return site.refuse(error_code_t::INVALID_VALUE, site.output(kY) + ", data type", show(y),
                     fmt::format("{}, that of {}", to_string(x), site.input(kX)));
}

Dims permuted(const Transpose_attributes& transpose, const Dims& values) {
  Dims result;
  for (int64_t from : transpose.get_permutation())
    result.push_back(values[static_cast<size_t>(from)]);
  return result;
}

Dims view_strides(const Slice_attributes& slice, const Dims& dims) {
  Dims strides = slice.inputs[kX]->get_stride();
  // A step beyond the end may be of any size; it is not used then.
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] > 1 && !slice.get_strides().empty()) strides[i] *= slice.get_strides()[i];
  return strides;
}

// What a virtual result's strides may repeat, a stored one's may not.
Dims own_or_packed(const Tensor_attributes& output, const Dims& dims, const Dims& strides) {
  if (output.get_is_virtual() || !elements_overlap(dims, strides)) return strides;
  return strides_in_order_of(dims, strides);
}

bool multiply(const Dims& dims, int64_t& volume) {
  volume = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(volume, dim, &volume)) return false;
  return true;
}

// VIEW_ONLY: Y must name the addresses that X's elements have, each as often as X does.
error_t check_view(const Site& site, const Tensor_attributes& x, const Tensor_attributes& y) {
  if (x.get_volume() == 0) return {};
  if (canonical_layout(x.get_dim(), x.get_stride()) ==
      canonical_layout(y.get_dim(), y.get_stride()))
    return {};
  return site.refuse(
      error_code_t::SHAPE_DEDUCTION_FAILED, site.output(kY) + ", strides",
      fmt::format("{} for dims {}", show(y.get_stride()), show(y.get_dim())),
      fmt::format("strides that visit exactly the elements of {} (dims {}, strides {}), or "
                  "reshape_mode LOGICAL",
                  site.input(kX), show(x.get_dim()), show(x.get_stride())));
}

}  // namespace

// --- Reshape ---

error_t validate(const Reshape_attributes& reshape, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_equal_types(reshape, site));
  const Tensor_attributes& y = *reshape.outputs[kY];
  CHECK_WARPLOOM_ERROR(check_target(site, reshape.get_dim(), reshape.get_stride(), y));
  const Dims& dims = reshape.get_dim().empty() ? y.get_dim() : reshape.get_dim();
  const int64_t elements = reshape.inputs[kX]->get_volume();
  int64_t found = 0;
  if (!multiply(dims, found) || found != elements)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.output(kY) + ", dims", show(dims),
                       fmt::format("dims with the {} elements of {}", elements, site.input(kX)));
  return {};
}

error_t infer(Reshape_attributes& reshape, const Site& site) {
  const Tensor_attributes& x = *reshape.inputs[kX];
  Tensor_attributes& y = *reshape.outputs[kY];
  if (!reshape.get_dim().empty()) CHECK_WARPLOOM_ERROR(infer_dims(site, kY, y, reshape.get_dim()));
  if (y.get_stride().empty())
    y.set_stride(reshape.get_stride().empty() ? nhwc_strides(y.get_dim()) : reshape.get_stride());
  return reshape.get_reshape_mode() == ReshapeMode_t::VIEW_ONLY ? check_view(site, x, y)
                                                                : error_t{};
}

bool is_view(const Reshape_attributes& reshape) {
  return reshape.get_reshape_mode() == ReshapeMode_t::VIEW_ONLY;
}

// --- Transpose ---

error_t validate(const Transpose_attributes& transpose, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_equal_types(transpose, site));
  const size_t rank = transpose.inputs[kX]->get_dim().size();
  const auto& permutation = transpose.get_permutation();
  if (permutation.size() != rank)
    return site.refuse(error_code_t::INVALID_VALUE, site.field("permutation"), show(permutation),
                       fmt::format("{} entries, one for each dim of {}", rank, site.input(kX)));
  std::vector<bool> is_used(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t from = permutation[i];
    if (from < 0 || from >= static_cast<int64_t>(rank) || is_used[static_cast<size_t>(from)])
      return site.refuse(error_code_t::INVALID_VALUE, site.field("permutation", i),
                         fmt::format("{} in {}", from, show(permutation)),
                         fmt::format("each of 0 to {} once", rank - 1));
    is_used[static_cast<size_t>(from)] = true;
  }
  return {};
}

error_t infer(Transpose_attributes& transpose, const Site& site) {
  const Tensor_attributes& x = *transpose.inputs[kX];
  Tensor_attributes& y = *transpose.outputs[kY];
  const Dims dims = permuted(transpose, x.get_dim());
  CHECK_WARPLOOM_ERROR(infer_dims(site, kY, y, dims));
  if (y.get_stride().empty())
    y.set_stride(own_or_packed(y, dims, permuted(transpose, x.get_stride())));
  return {};
}

bool is_view(const Transpose_attributes& transpose) {
  return transpose.outputs[kY]->get_stride() ==
         permuted(transpose, transpose.inputs[kX]->get_stride());
}

// --- Slice ---

error_t validate(const Slice_attributes& slice, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_equal_types(slice, site));
  const Dims& x = slice.inputs[kX]->get_dim();
  const auto& slices = slice.get_slices();
  const auto& steps = slice.get_strides();
  if (slices.size() != x.size())
    return site.refuse(error_code_t::INVALID_VALUE, site.field("slices"),
                       show(slices.size()) + " entries",
                       fmt::format("{}, one for each dim of {}", x.size(), site.input(kX)));
  if (!steps.empty() && steps.size() != x.size())
    return site.refuse(
        error_code_t::INVALID_VALUE, site.field("slice_strides"), show(steps.size()) + " entries",
        fmt::format("{}, one for each dim of {}, or none", x.size(), site.input(kX)));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto& [start, limit] = slices[i];
    if (start < 0 || limit < start || limit > x[i])
      return site.refuse(
          error_code_t::INVALID_VALUE, site.field("slices", i),
          fmt::format("{} to {}", start, limit),
          fmt::format("0 <= start <= limit <= {}, dim {} of {}", x[i], i, site.input(kX)));
    if (!steps.empty() && steps[i] < 1)
      return site.refuse(error_code_t::INVALID_VALUE, site.field("slice_strides", i),
                         show(steps[i]), "1 or more");
  }
  return {};
}

error_t infer(Slice_attributes& slice, const Site& site) {
  const Tensor_attributes& x = *slice.inputs[kX];
  Tensor_attributes& y = *slice.outputs[kY];
  Dims dims;
  for (size_t i = 0; i < x.get_dim().size(); ++i) {
    const auto& [start, limit] = slice.get_slices()[i];
    const int64_t step = slice.get_strides().empty() ? 1 : slice.get_strides()[i];
    dims.push_back((limit - start) / step + ((limit - start) % step != 0 ? 1 : 0));
  }
  CHECK_WARPLOOM_ERROR(infer_dims(site, kY, y, dims));
  if (!y.get_stride().empty()) return {};
  const Dims strides = view_strides(slice, dims);
  y.set_stride(y.get_is_virtual() ? strides : strides_in_order_of(dims, strides));
  return {};
}

bool is_view(const Slice_attributes& slice) {
  const Tensor_attributes& y = *slice.outputs[kY];
  return y.get_stride() == view_strides(slice, y.get_dim());
}

// --- Concatenate ---

error_t validate(const Concatenate_attributes& concatenate, const Site& site) {
  const Dims& first = concatenate.inputs[0]->get_dim();
  const DataType_t type = concatenate.inputs[0]->get_data_type();
  const auto rank = static_cast<int64_t>(first.size());
  const int64_t axis = *concatenate.get_axis();
  if (axis < 0 || axis >= rank)
    return site.refuse(error_code_t::INVALID_VALUE, site.field("axis"), show(axis),
                       fmt::format("0 to {}, a dim of {}", rank - 1, site.input(0)));
  const int64_t count =
      std::ranges::count_if(concatenate.inputs, [](const auto& x) { return x != nullptr; });
  if (const auto in_place = concatenate.get_in_place_index();
      in_place && (*in_place < 0 || *in_place >= count))
    return site.refuse(error_code_t::INVALID_VALUE, site.field("in_place_index"), show(*in_place),
                       fmt::format("0 to {}, an input", count - 1));
  for (size_t port = 0; port < static_cast<size_t>(count); ++port) {
    const graph::TensorPtr& x = concatenate.inputs[port];
    if (!x)
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(port), "no tensor",
                         "a tensor, as a later input is one");
    if (x->get_data_type() != type)
      return site.refuse(error_code_t::INVALID_VALUE, site.input(port) + ", data type",
                         show(x->get_data_type()),
                         fmt::format("{}, that of {}", to_string(type), site.input(0)));
    if (x->get_dim().size() != first.size())
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port),
                         show(x->get_dim().size()) + " dims",
                         fmt::format("{}, as {} has", rank, site.input(0)));
    for (size_t i = 0; i < first.size(); ++i)
      if (static_cast<int64_t>(i) != axis && x->get_dim()[i] != first[i])
        return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port, i),
                           show(x->get_dim()[i]),
                           fmt::format("{}, that of {}", first[i], site.input(0)));
  }
  return check_equal_types(concatenate, site);
}

error_t infer(Concatenate_attributes& concatenate, const Site& site) {
  const auto axis = static_cast<size_t>(*concatenate.get_axis());
  Dims dims = concatenate.inputs[0]->get_dim();
  for (size_t port = 1; port < concatenate.inputs.size(); ++port)
    if (const graph::TensorPtr& x = concatenate.inputs[port];
        x && __builtin_add_overflow(dims[axis], x->get_dim()[axis], &dims[axis]))
      return site.refuse(error_code_t::INVALID_VALUE, site.output(kY, axis), "a sum beyond 2^63",
                         "a size in bytes below 2^63");
  Tensor_attributes& y = *concatenate.outputs[kY];
  CHECK_WARPLOOM_ERROR(infer_dims(site, kY, y, dims));
  if (y.get_stride().empty())
    y.set_stride(strides_in_order_of(dims, concatenate.inputs[0]->get_stride()));
  return {};
}

bool is_view(const Concatenate_attributes&) {
  return false;
}

}  // namespace warploom::ops
