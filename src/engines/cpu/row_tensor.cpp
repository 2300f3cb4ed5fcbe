#include "engines/cpu/row_tensor.h"

#include <algorithm>
#include <cstring>

namespace warploom::cpu {

int64_t RowAxes::rows() const {
  int64_t product = 1;
  for (int axis : kept) product *= dims[static_cast<size_t>(axis)];
  return product;
}

int64_t RowAxes::length() const {
  int64_t product = 1;
  for (int axis : along) product *= dims[static_cast<size_t>(axis)];
  return product;
}

RowAxes row_axes(const ir::Shape& domain, std::span<const int64_t> statistics) {
  RowAxes axes;
  axes.dims = domain.dims;
  for (size_t axis = 0; axis < domain.dims.size(); ++axis)
    (statistics[axis] == 1 && domain.dims[axis] != 1 ? axes.along : axes.kept)
        .push_back(static_cast<int>(axis));
  // The stride of a single element says nothing.
  const auto stride = [&](int axis) {
    const auto at = static_cast<size_t>(axis);
    return domain.dims[at] == 1 ? INT64_MAX : domain.strides[at];
  };
  const auto is_slower = [&](int a, int b) { return stride(a) > stride(b); };
  std::stable_sort(axes.kept.begin(), axes.kept.end(), is_slower);
  std::stable_sort(axes.along.begin(), axes.along.end(), is_slower);
  return axes;
}

RowTensor::RowTensor(const fusion::FusionGroup& group, ir::ShapeTable shapes, ir::TensorId tensor,
                     const RowAxes& axes) {
  if (tensor == ir::kNoTensor) return;
  type_ = group.tensor(tensor).data_type;
  element_bytes_ = detail::get_data_type_size(type_);
  length_ = axes.length();
  pointer_ = pointer_index(group, tensor);
  if (pointer_ < 0) {
    if (const auto& value = group.tensor(tensor).value)
      value_ = std::visit([](auto number) { return static_cast<double>(number); }, *value);
    else
      type_ = DataType_t::NOT_SET;
    return;
  }
  const ir::Shape& shape = shapes[static_cast<size_t>(tensor)];
  const size_t rank = axes.dims.size(), own = shape.dims.size();
  const auto axis_of = [&](int axis) {
    const auto place = static_cast<size_t>(axis) + own;
    const bool moves = place >= rank && shape.dims[place - rank] != 1;
    return Axis{axes.dims[static_cast<size_t>(axis)], moves ? shape.strides[place - rank] : 0};
  };
  for (int axis : axes.kept) {
    kept_.push_back(axis_of(axis));
    // A result may have elements where the domain has none.
    kept_.back().extent = std::max<int64_t>(kept_.back().extent, 1);
  }
  for (int axis : axes.along) {
    const Axis next = axis_of(axis);
    if (next.extent == 1) continue;
    if (!along_.empty() && along_.back().stride == next.extent * next.stride)
      along_.back() = {along_.back().extent * next.extent, next.stride};
    else
      along_.push_back(next);
  }
  is_constant_along_ =
      std::ranges::all_of(along_, [](const Axis& axis) { return axis.stride == 0; });
}

bool RowTensor::is_same_for_rows() const {
  return std::ranges::all_of(kept_,
                             [](const Axis& axis) { return axis.stride == 0 || axis.extent == 1; });
}

std::byte* RowTensor::at(std::span<void* const> pointers, int64_t row) const {
  int64_t offset = 0;
  for (size_t axis = kept_.size(); axis-- > 0; row /= kept_[axis].extent)
    offset += row % kept_[axis].extent * kept_[axis].stride;
  return static_cast<std::byte*>(pointers[static_cast<size_t>(pointer_)]) + offset * element_bytes_;
}

double RowTensor::element(std::span<void* const> pointers, int64_t row,
                          const KernelTable& kernels) const {
  if (pointer_ < 0) return value_;
  if (type_ == DataType_t::FLOAT) {
    float value = 0;
    std::memcpy(&value, at(pointers, row), sizeof value);
    return value;
  }
  double value = 0;
  kernels.convert(at(pointers, row), type_, 1, &value, DataType_t::DOUBLE, 1, 1);
  return value;
}

void RowTensor::set_element(std::span<void* const> pointers, int64_t row, double value,
                            const KernelTable& kernels) const {
  if (*this) kernels.convert(&value, DataType_t::DOUBLE, 1, at(pointers, row), type_, 1, 1);
}

int64_t RowTensor::left_in_run(int64_t begin) const {
  if (along_.empty()) return length_ - begin;
  return along_.back().extent - begin % along_.back().extent;
}

int64_t RowTensor::offset_along(int64_t begin) const {
  int64_t offset = 0;
  for (size_t axis = along_.size(); axis-- > 0; begin /= along_[axis].extent)
    offset += begin % along_[axis].extent * along_[axis].stride;
  return offset;
}

bool RowTensor::is_in_place(const Piece& piece, DataType_t type) const {
  return pointer_ >= 0 && type_ == type && !along_.empty() && along_.back().stride == 1 &&
         piece.count > 0 && piece.count <= left_in_run(piece.begin);
}

/// function(memory, elements before, elements, stride) for each part that is evenly spaced.
template <class Function>
void RowTensor::for_each_run(std::span<void* const> pointers, const Piece& piece,
                             Function&& function) const {
  std::byte* const begin = at(pointers, piece.row);
  const int64_t stride = along_.empty() ? 0 : along_.back().stride;
  for (int64_t done = 0; done < piece.count;) {
    const int64_t n = std::min(piece.count - done, left_in_run(piece.begin + done));
    function(begin + offset_along(piece.begin + done) * element_bytes_, done, n, stride);
    done += n;
  }
}

const void* RowTensor::piece(std::span<void* const> pointers, const Piece& piece, DataType_t type,
                             void* buffer, const KernelTable& kernels) const {
  if (pointer_ < 0) {
    kernels.convert(&value_, DataType_t::DOUBLE, 0, buffer, type, 1, piece.count);
    return buffer;
  }
  if (is_in_place(piece, type))
    return at(pointers, piece.row) + offset_along(piece.begin) * element_bytes_;
  auto* const target = static_cast<std::byte*>(buffer);
  for_each_run(pointers, piece, [&](const std::byte* from, int64_t done, int64_t n, int64_t step) {
    kernels.convert(from, type_, step, target + done * detail::get_data_type_size(type), type, 1,
                    n);
  });
  return buffer;
}

void* RowTensor::target(std::span<void* const> pointers, const Piece& piece, DataType_t type,
                        void* buffer) const {
  if (!is_in_place(piece, type)) return buffer;
  return at(pointers, piece.row) + offset_along(piece.begin) * element_bytes_;
}

void RowTensor::write(std::span<void* const> pointers, const Piece& piece, DataType_t type,
                      const void* values, const KernelTable& kernels) const {
  if (pointer_ < 0 || is_in_place(piece, type)) return;
  const auto* const source = static_cast<const std::byte*>(values);
  for_each_run(pointers, piece, [&](std::byte* to, int64_t done, int64_t n, int64_t step) {
    kernels.convert(source + done * detail::get_data_type_size(type), type, 1, to, type_, step, n);
  });
}

}  // namespace warploom::cpu
