#include "plan/verify.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/element.h"
#include "ops/tiles.h"
#include "plan/memory.h"

namespace warploom::plan {
namespace {

using Bytes = std::vector<std::byte>;

/// Of the largest magnitude in the tensor, since sums cancel. Wide enough for any order of float
/// sums, far too narrow for anything that is wrong.
double relative_tolerance(DataType_t type) {
  switch (type) {
    case DataType_t::DOUBLE:
      return 1e-6;  // virtual tensors may be carried as float
    case DataType_t::FLOAT:
      return 1e-3;
    case DataType_t::HALF:
      return 1e-2;
    case DataType_t::BFLOAT16:
      return 4e-2;
    // One step at the greatest number.
    case DataType_t::FP8_E4M3:
      return 0.08;
    case DataType_t::FP8_E5M2:
      return 0.15;
    case DataType_t::FP4_E2M1:
      return 0.34;
    case DataType_t::FP8_E8M0:
      return 0.51;
    default:
      return 0;
  }
}

/// An integer may have been rounded from a value near a tie.
double absolute_tolerance(DataType_t type) {
  const bool is_integer = type == DataType_t::INT8 || type == DataType_t::UINT8 ||
                          type == DataType_t::INT32 || type == DataType_t::INT64;
  return is_integer ? 1 : 0;
}

/// Calls visit(coordinates, offset) for every element, until it returns false.
template <class Visit>
void for_each_element(const ir::Shape& shape, Visit&& visit) {
  if (shape.volume() == 0) return;
  std::vector<int64_t> at(shape.dims.size(), 0);
  for (int64_t offset = 0;;) {
    if (!visit(at, offset)) return;
    size_t axis = at.size();
    for (; axis > 0; --axis) {
      const int64_t stride = shape.strides[axis - 1], dim = shape.dims[axis - 1];
      offset += stride;
      if (++at[axis - 1] < dim) break;
      offset -= stride * dim;
      at[axis - 1] = 0;
    }
    if (axis == 0) return;
  }
}

bool is_tiled(const ir::Tensor& tensor) {
  return tensor.reordering == TensorReordering_t::F8_128x4;
}

size_t memory_bytes(const ir::Tensor& tensor) {
  return static_cast<size_t>(is_tiled(tensor) ? ops::tiled_elements(tensor.shape)
                                              : spanned_bytes(tensor.shape, tensor.data_type));
}

error_t compare(const ir::Tensor& tensor, const void* got, const void* expected) {
  double largest = 0;
  const auto place = [&](const std::vector<int64_t>& at, int64_t offset) {
    return is_tiled(tensor) ? ops::tiled_offset(tensor.shape, at) : offset;
  };
  for_each_element(tensor.shape, [&](const std::vector<int64_t>& at, int64_t offset) {
    const double value = std::abs(base::load_double(expected, tensor.data_type, place(at, offset)));
    if (std::isfinite(value)) largest = std::max(largest, value);
    return true;
  });
  const double tolerance =
      relative_tolerance(tensor.data_type) * largest + absolute_tolerance(tensor.data_type);
  error_t error;
  for_each_element(tensor.shape, [&](const std::vector<int64_t>& at, int64_t offset) {
    const double a = base::load_double(got, tensor.data_type, place(at, offset));
    const double b = base::load_double(expected, tensor.data_type, place(at, offset));
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance) return true;
    error = {error_code_t::GRAPH_EXECUTION_FAILED,
             fmt::format("Verification: tensor \"{}\" at [{}]: found {}, the reference has {} "
                         "(tolerance {})",
                         tensor.name, fmt::join(at, ", "), a, b, tolerance)};
    return false;
  });
  return error;
}

}  // namespace

error_t execute_verified(const BindTarget& target, const Plan& plan, const Plan& reference,
                         void* stream, std::span<void* const> pack, void* workspace) {
  CHECK_WARPLOOM_ERROR(plan.check_workspace(workspace));

  // The reference runs first: the plan may write to what both read.
  const std::vector<PackEntry>& entries = target.pack.entries();
  std::vector<void*> pointers(pack.begin(), pack.end());
  std::vector<Bytes> outputs(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const ir::Tensor& tensor = target.graph->tensor(entries[i].tensor);
    if (tensor.producer == ir::kNoNode || !pack[i]) continue;
    // How large the memory of a ragged tensor is, only its offsets know: it is written twice.
    if (tensor.ragged_offset != ir::kNoTensor) continue;
    outputs[i].resize(memory_bytes(tensor));
    pointers[i] = outputs[i].data();
  }
  Bytes scratch(static_cast<size_t>(reference.workspace_bytes()));
  CHECK_WARPLOOM_ERROR(reference.execute(stream, pointers, scratch.data()));
  CHECK_WARPLOOM_ERROR(plan.execute(stream, pack, workspace));
  for (size_t i = 0; i < entries.size(); ++i)
    if (!outputs[i].empty())
      CHECK_WARPLOOM_ERROR(
          compare(target.graph->tensor(entries[i].tensor), pack[i], outputs[i].data()));
  return {};
}

}  // namespace warploom::plan
