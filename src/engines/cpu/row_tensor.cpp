#include "engines/cpu/row_tensor.h"

#include <algorithm>

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
  const auto is_slower = [&](int a, int b) {
    return domain.strides[static_cast<size_t>(a)] > domain.strides[static_cast<size_t>(b)];
  };
  std::stable_sort(axes.kept.begin(), axes.kept.end(), is_slower);
  std::stable_sort(axes.along.begin(), axes.along.end(), is_slower);
  return axes;
}

RowTensor::RowTensor(const fusion::FusionGroup& group, ir::ShapeTable shapes, ir::TensorId tensor,
                     const RowAxes& axes) {
  if (tensor == ir::kNoTensor) return;
  type_ = group.tensor(tensor).data_type;
  element_bytes_ = detail::get_data_type_size(type_);
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
  for (int axis : axes.kept) kept_.push_back(axis_of(axis));
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
  double value = 0;
  kernels.convert(at(pointers, row), type_, 1, &value, DataType_t::DOUBLE, 1, 1);
  return value;
}

void RowTensor::set_element(std::span<void* const> pointers, int64_t row, double value,
                            const KernelTable& kernels) const {
  if (*this) kernels.convert(&value, DataType_t::DOUBLE, 1, at(pointers, row), type_, 1, 1);
}

const void* RowTensor::row(std::span<void* const> pointers, int64_t row, DataType_t type,
                           void* buffer, const KernelTable& kernels) const {
  if (pointer_ < 0) {
    kernels.convert(&value_, DataType_t::DOUBLE, 1, buffer, type, 1, 1);
    return buffer;
  }
  const std::byte* source = at(pointers, row);
  if (along_.size() == 1 && along_[0].stride == 1 && type_ == type) return source;
  auto* target = static_cast<std::byte*>(buffer);
  const int64_t bytes = detail::get_data_type_size(type);
  const Axis last = along_.empty() ? Axis{1, 0} : along_.back();
  int64_t runs = 1;
  for (size_t axis = 0; axis + 1 < along_.size(); ++axis) runs *= along_[axis].extent;
  if (last.extent == 0) return buffer;
  for (int64_t run = 0; run < runs; ++run, target += last.extent * bytes) {
    int64_t offset = 0, rest = run;
    for (size_t axis = along_.size() - std::min<size_t>(1, along_.size()); axis-- > 0;
         rest /= along_[axis].extent)
      offset += rest % along_[axis].extent * along_[axis].stride;
    kernels.convert(source + offset * element_bytes_, type_, last.stride, target, type, 1,
                    last.extent);
  }
  return buffer;
}

}  // namespace warploom::cpu
