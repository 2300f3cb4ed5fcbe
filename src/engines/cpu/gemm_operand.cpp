#include "engines/cpu/gemm_operand.h"

#include <algorithm>
#include <cassert>

namespace warploom::cpu {

void GemmOperand::bind(const fusion::FusionGroup& group, ir::ShapeTable shapes, size_t port,
                       int extent_axis, int k_axis, const CompiledExpression* prologue) {
  const ir::Node& node = group.node(group.anchor);
  const ir::TensorId id = node.inputs[port];
  const ir::Shape& shape = shapes[static_cast<size_t>(id)];
  const ir::Shape& result = shapes[static_cast<size_t>(node.outputs[0])];
  const size_t batch_axes = shape.dims.size() - 2;
  own_batch_dims_.assign(shape.dims.begin(), shape.dims.begin() + static_cast<long>(batch_axes));
  batch_strides_.assign(shape.strides.begin(),
                        shape.strides.begin() + static_cast<long>(batch_axes));
  result_batch_dims_.assign(result.dims.begin(),
                            result.dims.begin() + static_cast<long>(batch_axes));
  own_batches_ = 1;
  for (int64_t dim : own_batch_dims_) own_batches_ *= dim;
  extent_ = shape.dims[static_cast<size_t>(extent_axis)];
  depth_ = shape.dims[static_cast<size_t>(k_axis)];
  extent_stride_ = shape.strides[static_cast<size_t>(extent_axis)];
  k_stride_ = shape.strides[static_cast<size_t>(k_axis)];
  type_ = group.tensor(id).data_type;
  pointer_ = pointer_index(group, id);
  prologue_ = prologue;
  if (!prologue) return;
  type_ = DataType_t::NOT_SET;
  for (const ProgramOperand& operand : prologue->operands)
    if (operand.kind == ProgramOperand::Kind::kTile) type_ = operand.type;
  WalkOrder order;
  for (size_t axis = 0; axis < batch_axes; ++axis) order.row_axes.push_back(static_cast<int>(axis));
  order.row_axes.push_back(extent_axis);
  order.column_axes.push_back(k_axis);
  [[maybe_unused]] bool is_bound = expression_.bind(*prologue, group, shapes, order);
  assert(is_bound);
}

int64_t GemmOperand::own_batch(int64_t batch) const {
  if (flattened_rows_ != 0) return 0;
  int64_t own = 0, unit = 1;
  for (size_t axis = own_batch_dims_.size(); axis-- > 0; batch /= result_batch_dims_[axis]) {
    const int64_t at = batch % result_batch_dims_[axis];
    own += at * own_batch_dims_[axis] / result_batch_dims_[axis] * unit;
    unit *= own_batch_dims_[axis];
  }
  return own;
}

bool GemmOperand::flatten_batches() {
  int64_t stride = extent_stride_, rows = extent_;
  for (size_t axis = own_batch_dims_.size(); axis-- > 0;) {
    if (own_batch_dims_[axis] != result_batch_dims_[axis]) return false;
    if (own_batch_dims_[axis] == 1) continue;
    if (rows == 1)
      stride = batch_strides_[axis];
    else if (!has_prologue() && batch_strides_[axis] != rows * stride)
      return false;
    rows *= own_batch_dims_[axis];
  }
  extent_stride_ = stride;
  extent_ = flattened_rows_ = rows;
  own_batches_ = 1;
  return true;
}

const std::byte* GemmOperand::data(std::span<void* const> pointers, int64_t own_batch) const {
  int64_t offset = 0;
  if (flattened_rows_ == 0)
    for (size_t axis = own_batch_dims_.size(); axis-- > 0; own_batch /= own_batch_dims_[axis])
      offset += own_batch % own_batch_dims_[axis] * batch_strides_[axis];
  return static_cast<const std::byte*>(pointers[static_cast<size_t>(pointer_)]) +
         offset * element_bytes();
}

void GemmOperand::run_prologue(const RunContext& context, int64_t own_batch, int64_t begin,
                               int64_t end, std::byte* target, int64_t target_element_bytes,
                               int64_t row_stride, int64_t k_stride) const {
  const TileShape shape = prologue_->program.shape();
  for (int64_t row = begin; row < end;) {
    const int64_t domain_row = own_batch * extent_ + row;
    const int64_t rows =
        std::min<int64_t>({shape.rows, end - row, expression_.rows_in_one_tile(domain_row)});
    for (int64_t k = 0; k < depth_; k += shape.columns) {
      TileOperand tile;
      tile.data = target + ((row - begin) * row_stride + k * k_stride) * target_element_bytes;
      tile.row_stride = row_stride;
      tile.column_stride = k_stride;
      expression_.run_tile(
          context, {domain_row, rows, k, std::min<int64_t>(shape.columns, depth_ - k)}, {}, &tile);
    }
    row += rows;
  }
}

}  // namespace warploom::cpu
