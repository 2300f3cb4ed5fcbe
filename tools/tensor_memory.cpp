#include "tools/tensor_memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "tools/elements.h"

namespace warploom::tools {
namespace {

constexpr int64_t kAlignment = 64;
/// More than any machine has; sums below stay far from overflow.
constexpr int64_t kMostBytes = int64_t{1} << 46;

/// Bytes from the first element to behind the last one, or -1 when beyond kMostBytes.
int64_t span_in_bytes(const ir::Tensor& tensor) {
  const int64_t element = detail::get_data_type_size(tensor.data_type);
  int64_t last = 0;
  for (size_t i = 0; i < tensor.shape.dims.size(); ++i) {
    const int64_t steps = tensor.shape.dims[i] - 1, stride = tensor.shape.strides[i];
    if (steps < 0) return 0;
    if (stride > 0 && steps > kMostBytes / stride) return -1;
    last += steps * stride;
    if (last > kMostBytes / element) return -1;
  }
  return (last + 1) * element;
}

std::byte* allocate_bytes(int64_t bytes) {
  const auto rounded = static_cast<size_t>((bytes / kAlignment + 1) * kAlignment);
  return static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
}

}  // namespace

AlignedMemory::AlignedMemory(int64_t bytes) : bytes_(bytes), data_(allocate_bytes(bytes)) {
  if (!data_) throw std::bad_alloc();
  poison();
}

void AlignedMemory::poison() {
  std::memset(data_.get(), 0xff, static_cast<size_t>(bytes_));
}

void AlignedMemory::Free::operator()(std::byte* pointer) const {
  std::free(pointer);
}

Result<TensorMemory> TensorMemory::allocate(const ir::Tensor& tensor) {
  const auto refuse = [&](std::string_view why) -> error_t {
    return {error_code_t::INVALID_VALUE,
            fmt::format("tensor '{}' ({}, strides [{}]) {}", tensor.name,
                        describe(tensor.data_type, tensor.shape.dims),
                        fmt::join(tensor.shape.strides, ", "), why)};
  };
  if (npy_descr(tensor.data_type).empty()) return refuse("has a data type that .npy cannot hold");
  const int64_t bytes = span_in_bytes(tensor);
  if (bytes < 0) return refuse("is too large");
  try {
    return TensorMemory(tensor, bytes);
  } catch (const std::bad_alloc&) {
    return refuse(fmt::format("needs {} bytes, which this machine has not free", bytes));
  }
}

std::byte* TensorMemory::element(int64_t offset) const {
  return memory_.data() + offset * detail::get_data_type_size(tensor_->data_type);
}

error_t TensorMemory::assign(const NpyArray& array) {
  const std::vector<int64_t>& dims = tensor_->shape.dims;
  // A scalar may come in any rank.
  const bool is_scalar =
      tensor_->is_pass_by_value && tensor_->shape.volume() == 1 &&
      static_cast<int64_t>(array.data.size()) == detail::get_data_type_size(tensor_->data_type);
  if (array.data_type != tensor_->data_type || (array.dims != dims && !is_scalar)) {
    return {error_code_t::INVALID_VALUE,
            fmt::format("tensor '{}' is {}; the file holds {}", tensor_->name,
                        describe(tensor_->data_type, dims), describe(array.data_type, array.dims))};
  }
  if (is_scalar) {
    std::memcpy(memory_.data(), array.data.data(), array.data.size());
    return {};
  }
  const int64_t size = detail::get_data_type_size(tensor_->data_type);
  const std::array<std::span<const int64_t>, 2> layouts{tensor_->shape.strides, array.strides};
  for_each_offset(dims, layouts, [&](int64_t to, int64_t from) {
    std::memcpy(element(to), array.data.data() + from * size, static_cast<size_t>(size));
  });
  // Where strides let elements share memory, the file must agree with itself.
  bool agrees = true;
  for_each_offset(dims, layouts, [&](int64_t to, int64_t from) {
    agrees = agrees && std::memcmp(element(to), array.data.data() + from * size,
                                   static_cast<size_t>(size)) == 0;
  });
  if (agrees) return {};
  return {error_code_t::INVALID_VALUE,
          fmt::format("tensor '{}' has strides [{}], by which elements share memory; the file's "
                      "elements there differ",
                      tensor_->name, fmt::join(tensor_->shape.strides, ", "))};
}

NpyArray TensorMemory::to_array() const {
  const auto size = static_cast<size_t>(detail::get_data_type_size(tensor_->data_type));
  NpyArray array{tensor_->data_type, tensor_->shape.dims, {}, {}};
  array.data.reserve(static_cast<size_t>(tensor_->shape.volume()) * size);
  const std::array<std::span<const int64_t>, 1> layout{tensor_->shape.strides};
  for_each_offset(tensor_->shape.dims, layout, [&](int64_t offset) {
    array.data.insert(array.data.end(), element(offset), element(offset) + size);
  });
  return array;
}

std::string describe(DataType_t type, const std::vector<int64_t>& dims) {
  return fmt::format("{} [{}]", to_string(type), fmt::join(dims, ", "));
}

}  // namespace warploom::tools
