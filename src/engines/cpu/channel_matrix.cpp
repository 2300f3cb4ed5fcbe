#include "engines/cpu/channel_matrix.h"

namespace warploom::cpu {

std::optional<ChannelAxes> channel_axes(const ir::Shape& domain, const RowAxes& axes) {
  if (axes.kept.empty() || axes.along.empty()) return std::nullopt;
  const auto columns = static_cast<size_t>(axes.kept.back());
  const auto fastest = static_cast<size_t>(axes.along.back());
  if (axes.dims[columns] == 1 || domain.strides[fastest] <= domain.strides[columns])
    return std::nullopt;
  ChannelAxes channels{axes};
  channels.columns = axes.dims[columns];
  channels.rows = axes.length();
  for (size_t i = 0; i + 1 < axes.kept.size(); ++i)
    channels.planes *= axes.dims[static_cast<size_t>(axes.kept[i])];
  return channels;
}

ChannelMatrix::ChannelMatrix(const fusion::FusionGroup& group, ir::ShapeTable shapes,
                             ir::TensorId tensor, const ChannelAxes& channels) {
  if (tensor == ir::kNoTensor) return;
  type_ = group.tensor(tensor).data_type;
  element_bytes_ = detail::get_data_type_size(type_);
  pointer_ = pointer_index(group, tensor);
  const ir::Shape& shape = shapes[static_cast<size_t>(tensor)];
  const auto axis_of = [&](int axis) {
    return Axis{channels.axes.dims[static_cast<size_t>(axis)],
                shape.strides[static_cast<size_t>(axis)]};
  };
  for (int axis : channels.axes.kept) planes_.push_back(axis_of(axis));
  columns_ = planes_.back().extent;
  column_stride_ = planes_.back().stride;
  planes_.pop_back();
  for (int axis : channels.axes.along) {
    const Axis next = axis_of(axis);
    if (next.extent == 1) continue;
    if (!rows_.empty() && rows_.back().stride == next.extent * next.stride)
      rows_.back() = {rows_.back().extent * next.extent, next.stride};
    else
      rows_.push_back(next);
  }
  if (rows_.empty()) rows_.push_back({1, 0});
}

std::byte* ChannelMatrix::at(std::span<void* const> pointers, int64_t plane, int64_t row) const {
  int64_t offset = 0;
  for (size_t axis = planes_.size(); axis-- > 0; plane /= planes_[axis].extent)
    offset += plane % planes_[axis].extent * planes_[axis].stride;
  for (size_t axis = rows_.size(); axis-- > 0; row /= rows_[axis].extent)
    offset += row % rows_[axis].extent * rows_[axis].stride;
  return static_cast<std::byte*>(pointers[static_cast<size_t>(pointer_)]) + offset * element_bytes_;
}

ColumnMatrix ChannelMatrix::read(std::span<void* const> pointers, const Block& block,
                                 DataType_t type, void* buffer, const KernelTable& kernels) const {
  if (is_in_place(type)) return {at(pointers, block.plane, block.row), rows_[0].stride};
  auto* target = static_cast<std::byte*>(buffer);
  if (is_dense()) {
    kernels.convert(at(pointers, block.plane, block.row), type_, 1, buffer, type, 1,
                    block.rows * columns_);
    return {buffer, columns_};
  }
  const int64_t row_bytes = columns_ * detail::get_data_type_size(type);
  for (int64_t row = 0; row < block.rows; ++row, target += row_bytes)
    kernels.convert(at(pointers, block.plane, block.row + row), type_, column_stride_, target, type,
                    1, columns_);
  return {buffer, columns_};
}

ChannelMatrix::Target ChannelMatrix::target(std::span<void* const> pointers, const Block& block,
                                            DataType_t type, void* buffer) const {
  if (is_in_place(type)) return {at(pointers, block.plane, block.row), rows_[0].stride};
  return {buffer, columns_};
}

void ChannelMatrix::write(std::span<void* const> pointers, const Block& block, DataType_t type,
                          const Target& target, const KernelTable& kernels) const {
  if (is_in_place(type)) return;
  const auto* source = static_cast<const std::byte*>(target.data);
  if (is_dense())
    return kernels.convert(source, type, 1, at(pointers, block.plane, block.row), type_, 1,
                           block.rows * columns_);
  const int64_t row_bytes = target.stride * detail::get_data_type_size(type);
  for (int64_t row = 0; row < block.rows; ++row, source += row_bytes)
    kernels.convert(source, type, 1, at(pointers, block.plane, block.row + row), type_,
                    column_stride_, columns_);
}

}  // namespace warploom::cpu
