#include "engines/cpu/bound_expression.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>

namespace warploom::cpu {
namespace {

/// Strides of a tensor over the axes of a domain of at least its rank, aligned right; 0 where it is
/// broadcast.
AxisStrides domain_strides(const ir::Shape& tensor, int domain_rank) {
  AxisStrides strides = {};
  const int shift = domain_rank - tensor.rank();
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    if (axis + shift < 0) continue;  // leading dims of 1
    auto i = static_cast<size_t>(axis);
    if (tensor.dims[i] != 1) strides[static_cast<size_t>(axis + shift)] = tensor.strides[i];
  }
  return strides;
}

/// The same of a row-major tensor of these dims.
AxisStrides row_major_domain_strides(const std::vector<int64_t>& dims, int domain_rank) {
  AxisStrides strides = {};
  const int shift = domain_rank - static_cast<int>(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0; stride *= dims[axis]) {
    const int target = static_cast<int>(axis) + shift;
    if (dims[axis] != 1 && target >= 0) strides[static_cast<size_t>(target)] = stride;
  }
  return strides;
}

const ir::Shape& shape_of(ir::ShapeTable shapes, ir::TensorId tensor) {
  return shapes[static_cast<size_t>(tensor)];
}

AxisStrides strides_of(const ProgramOperand& operand, ir::ShapeTable shapes, int rank) {
  switch (operand.kind) {
    case ProgramOperand::Kind::kLoad:
    case ProgramOperand::Kind::kStore:
      return domain_strides(shape_of(shapes, operand.tensor), rank);
    case ProgramOperand::Kind::kReduction:
      return row_major_domain_strides(shape_of(shapes, operand.tensor).dims, rank);
    case ProgramOperand::Kind::kIndex: {
      AxisStrides strides = {};
      const ir::Shape& shape = shape_of(shapes, operand.tensor);
      const int own_axis = operand.axis - (rank - shape.rank());
      if (shape.dims[static_cast<size_t>(own_axis)] != 1)
        strides[static_cast<size_t>(operand.axis)] = 1;
      return strides;
    }
    case ProgramOperand::Kind::kTile:
      break;
  }
  return {};
}

/// Element strides of every operand over the axes of the domain.
std::vector<AxisStrides> operand_strides(const CompiledExpression& compiled, ir::ShapeTable shapes,
                                         int rank) {
  std::vector<AxisStrides> all;
  all.reserve(compiled.operands.size());
  for (const ProgramOperand& operand : compiled.operands)
    all.push_back(strides_of(operand, shapes, rank));
  return all;
}

/// Axes that are one for every operand become one, known by the last of them. Axes of dim 1 vanish.
struct MergedAxes {
  base::InplaceVector<int64_t, ir::kMaxRank> dims;
  WalkOrder::Axes last;
};

MergedAxes merge_axes(const WalkOrder::Axes& axes, const std::vector<int64_t>& dims,
                      std::span<const AxisStrides> strides) {
  MergedAxes merged;
  for (int axis : axes) {
    const auto a = static_cast<size_t>(axis);
    if (dims[a] == 1) continue;
    bool continues = !merged.dims.empty();
    for (size_t i = 0; continues && i < strides.size(); ++i)
      continues = strides[i][static_cast<size_t>(merged.last.back())] == dims[a] * strides[i][a];
    if (continues) {
      merged.dims.back() *= dims[a];
      merged.last.back() = axis;
    } else {
      merged.dims.push_back(dims[a]);
      merged.last.push_back(axis);
    }
  }
  return merged;
}

}  // namespace

bool BoundExpression::bind(const CompiledExpression& compiled, const fusion::FusionGroup& group,
                           ir::ShapeTable shapes, const WalkOrder& order) {
  const ir::Shape& domain = shape_of(shapes, compiled.domain);
  const auto strides = operand_strides(compiled, shapes, domain.rank());
  if (merge_axes(order.column_axes, domain.dims, strides).dims.size() > 1) return false;
  bind_axes(compiled, group, shapes, order, strides);
  return true;
}

void BoundExpression::bind_widest(const CompiledExpression& compiled,
                                  const fusion::FusionGroup& group, ir::ShapeTable shapes,
                                  WalkOrder order) {
  const ir::Shape& domain = shape_of(shapes, compiled.domain);
  const auto strides = operand_strides(compiled, shapes, domain.rank());
  assert(merge_axes(order.column_axes, domain.dims, strides).dims.size() <= 1);
  while (!order.row_axes.empty()) {
    WalkOrder::Axes wider = order.column_axes;
    wider.push_front(order.row_axes.back());
    if (merge_axes(wider, domain.dims, strides).dims.size() > 1) break;
    order.row_axes.pop_back();
    order.column_axes = wider;
  }
  bind_axes(compiled, group, shapes, order, strides);
}

void BoundExpression::bind_axes(const CompiledExpression& compiled,
                                const fusion::FusionGroup& group, ir::ShapeTable shapes,
                                const WalkOrder& order, std::span<const AxisStrides> strides) {
  compiled_ = &compiled;
  shape_ = compiled.program.shape();
  const ir::Shape& domain = shape_of(shapes, compiled.domain);
  const MergedAxes rows = merge_axes(order.row_axes, domain.dims, strides);
  const MergedAxes columns = merge_axes(order.column_axes, domain.dims, strides);

  row_dims_ = rows.dims;
  rows_ = columns_ = 1;
  for (int64_t dim : row_dims_) rows_ *= dim;
  for (int64_t dim : columns.dims) columns_ *= dim;

  operands_.assign(compiled.operands.size(), {});
  reduction_of_operand_.assign(compiled.operands.size(), -1);
  reductions_.clear();
  uneven_operands_ = 0;
  for (size_t i = 0; i < operands_.size(); ++i) {
    Operand& operand = operands_[i];
    for (size_t axis = 0; axis < row_dims_.size(); ++axis)
      operand.row_strides[axis] = strides[i][static_cast<size_t>(rows.last[axis])];
    if (!columns.dims.empty())
      operand.column_stride = strides[i][static_cast<size_t>(columns.last[0])];
    for (size_t axis = 1; axis < row_dims_.size(); ++axis)
      operand.is_uniform &=
          operand.row_strides[axis - 1] == row_dims_[axis] * operand.row_strides[axis];
    if (!row_dims_.empty()) operand.uniform_stride = operand.row_strides[row_dims_.size() - 1];
    uneven_operands_ += !operand.is_uniform;
    const ProgramOperand& description = compiled.operands[i];
    operand.element_bytes = detail::get_data_type_size(description.type);
    if (description.kind == ProgramOperand::Kind::kReduction) {
      operand.element_bytes = sizeof(double);
      bind_reduction(static_cast<int>(i), group, shapes, domain);
    }
  }
}

void BoundExpression::bind_reduction(int operand, const fusion::FusionGroup& group,
                                     ir::ShapeTable shapes, const ir::Shape& domain) {
  const ProgramOperand& description = compiled_->operands[static_cast<size_t>(operand)];
  BoundReduction reduction;
  reduction.operand = operand;
  reduction.pointer = description.pointer;
  reduction.mode =
      std::get<graph::Reduction_attributes>(group.node(description.reduction).operation).get_mode();
  reduction.integer = compiled_->program.compute() == TileCompute::kInt64;
  reduction.type = description.type;
  reduction.result = shape_of(shapes, description.tensor);
  reduction.volume = reduction.result.volume();
  int64_t domain_volume = domain.volume();
  reduction.count = reduction.volume == 0 ? 0 : domain_volume / reduction.volume;
  reduction_of_operand_[static_cast<size_t>(operand)] = static_cast<int>(reductions_.size());
  reductions_.push_back(std::move(reduction));
}

// Tasks of different periods share no element of the result if all that is reduced lies inside all
// that is kept, and a period is whole elements.
int64_t BoundExpression::row_slices(const BoundReduction& reduction, const TaskGrid& grid) const {
  const Operand& operand = operands_[static_cast<size_t>(reduction.operand)];
  int64_t reduced = 1;
  bool has_kept = false, is_mixed = false;
  for (size_t axis = row_dims_.size(); axis-- > 0;) {
    if (operand.row_strides[axis] == 0) {
      is_mixed |= has_kept;
      reduced *= row_dims_[axis];
    } else {
      has_kept = true;
    }
  }
  if (reduced <= 1) return 1;  // 0: an empty domain, which no task walks
  return !is_mixed && has_kept && grid.period_rows % reduced == 0 ? grid.period_tasks
                                                                  : grid.row_tasks;
}

int64_t BoundExpression::column_slices(const BoundReduction& reduction,
                                       const TaskGrid& grid) const {
  const bool is_reduced = operands_[static_cast<size_t>(reduction.operand)].column_stride == 0;
  return is_reduced ? grid.column_tasks : 1;
}

int64_t BoundExpression::exclusive_rows() const {
  int64_t unit = 1;
  for (const BoundReduction& reduction : reductions_) {
    const Operand& operand = operands_[static_cast<size_t>(reduction.operand)];
    int64_t reduced = 1;
    for (size_t axis = row_dims_.size(); axis-- > 0 && operand.row_strides[axis] == 0;)
      reduced *= row_dims_[axis];
    unit = std::max(unit, reduced);
  }
  return unit;
}

bool BoundExpression::has_strided_columns() const {
  return std::any_of(operands_.begin(), operands_.end(), [](const Operand& operand) {
    return operand.column_stride != 0 && operand.column_stride != 1;
  });
}

int64_t BoundExpression::accumulator_bytes(const TaskGrid& grid) const {
  int64_t bytes = 0;
  for (const BoundReduction& reduction : reductions_)
    bytes += row_slices(reduction, grid) * column_slices(reduction, grid) * reduction.volume *
             static_cast<int64_t>(sizeof(double));
  return bytes;
}

void BoundExpression::set_grid(const TaskGrid& grid, const fusion::FusionGroup& group,
                               WorkspaceLayout& layout) {
  for (BoundReduction& reduction : reductions_) {
    reduction.row_slices = row_slices(reduction, grid);
    reduction.column_slices = column_slices(reduction, grid);
    const auto& description = compiled_->operands[static_cast<size_t>(reduction.operand)];
    reduction.offset =
        layout.add("accumulators of ",
                   reduction.slices() * reduction.volume * static_cast<int64_t>(sizeof(double)),
                   group.tensor(description.tensor).name);
  }
}

std::optional<BoundExpression::Matrix> BoundExpression::matrix(int operand) const {
  const Operand& bound = operands_[static_cast<size_t>(operand)];
  const ProgramOperand& description = compiled_->operands[static_cast<size_t>(operand)];
  const bool is_tensor = description.kind == ProgramOperand::Kind::kLoad ||
                         description.kind == ProgramOperand::Kind::kStore;
  if (!is_tensor || !bound.is_uniform) return std::nullopt;
  return Matrix{description.pointer, bound.uniform_stride, bound.column_stride};
}

int64_t BoundExpression::scratch_bytes() const {
  const TileProgram& program = compiled_->program;
  auto count = static_cast<int64_t>(operands_.size());
  return round_up(static_cast<int64_t>(program.slot_bytes()), kScratchAlignment) +
         round_up(count * static_cast<int64_t>(sizeof(TileOperand)), kScratchAlignment) +
         round_up(uneven_operands_ * shape_.rows * static_cast<int64_t>(sizeof(int64_t)),
                  kScratchAlignment);
}

int64_t BoundExpression::rows_in_one_tile(int64_t row) const {
  if (!compiled_->has_index || row_dims_.size() < 2) return rows_ - row;
  return row_dims_.back() - row % row_dims_.back();
}

void BoundExpression::run_tile(const RunContext& context, const Region& region, TaskIndex task,
                               const TileOperand* tile) const {
  run_shaped(context, region, task, tile, 0);
}

// `folded_columns`: the region is one row, folded into `rows` rows of so many columns.
void BoundExpression::run_shaped(const RunContext& context, const Region& region, TaskIndex task,
                                 const TileOperand* tile, int64_t folded_columns) const {
  const TileProgram& program = compiled_->program;
  std::byte* scratch =
      context.scratch + round_up(static_cast<int64_t>(program.slot_bytes()), kScratchAlignment);
  auto* tile_operands = reinterpret_cast<TileOperand*>(scratch);
  auto count = static_cast<int64_t>(operands_.size());
  auto* row_offsets = reinterpret_cast<int64_t*>(
      scratch + round_up(count * static_cast<int64_t>(sizeof(TileOperand)), kScratchAlignment));

  int64_t start[ir::kMaxRank];
  const size_t axes = row_dims_.size();
  int64_t rest = region.row;
  for (size_t axis = axes; axis-- > 0; rest /= row_dims_[axis])
    start[axis] = rest % row_dims_[axis];
  const bool crosses =
      axes > 1 && folded_columns == 0 && start[axes - 1] + region.rows > row_dims_[axes - 1];

  for (size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    const ProgramOperand& description = compiled_->operands[i];
    TileOperand& target = tile_operands[i];
    if (description.kind == ProgramOperand::Kind::kTile) {
      target = *tile;
      continue;
    }
    int64_t offset = region.column * operand.column_stride;
    for (size_t axis = 0; axis < axes; ++axis) offset += start[axis] * operand.row_strides[axis];
    target = {};
    target.column_stride = operand.column_stride;
    target.row_stride =
        folded_columns != 0 ? folded_columns * operand.column_stride : operand.uniform_stride;
    if (description.kind == ProgramOperand::Kind::kIndex) {
      target.index = offset;
      continue;
    }
    std::byte* base = nullptr;
    if (description.kind == ProgramOperand::Kind::kReduction) {
      const BoundReduction& reduction = reductions_[static_cast<size_t>(reduction_of_operand_[i])];
      base = context.workspace + reduction.offset +
             reduction.slice(task) * reduction.volume * static_cast<int64_t>(sizeof(double));
    } else {
      base = static_cast<std::byte*>(context.pointers[static_cast<size_t>(description.pointer)]);
    }
    if (!crosses || operand.is_uniform) {
      target.data = base + offset * operand.element_bytes;
      continue;
    }
    target.data = base + region.column * operand.column_stride * operand.element_bytes;
    target.row_offsets = row_offsets;
    int64_t at[ir::kMaxRank];
    std::copy(start, start + axes, at);
    offset -= region.column * operand.column_stride;
    for (int64_t row = 0; row < region.rows; ++row) {
      *row_offsets++ = offset;
      for (size_t axis = axes; axis-- > 0;) {
        offset += operand.row_strides[axis];
        if (++at[axis] < row_dims_[axis]) break;
        offset -= at[axis] * operand.row_strides[axis];
        at[axis] = 0;
      }
    }
  }
  TileArguments arguments;
  arguments.operands = tile_operands;
  arguments.slots = context.scratch;
  arguments.rows = static_cast<int32_t>(region.rows);
  arguments.columns = static_cast<int32_t>(region.columns);
  context.kernels->run_tile(program.view(shape_), arguments);
}

void BoundExpression::run_region(const RunContext& context, const Region& region,
                                 TaskIndex task) const {
  const TileShape shape = shape_;
  const int64_t width = shape.columns;
  if (region.rows < shape.rows && region.columns >= 2 * width) {
    // Few long rows: each is folded, so that a tile is full all the same.
    const int64_t folds = region.columns / width;
    for (int64_t row = region.row; row < region.row + region.rows; ++row) {
      for (int64_t fold = 0; fold < folds; fold += shape.rows)
        run_shaped(
            context,
            {row, std::min<int64_t>(shape.rows, folds - fold), region.column + fold * width, width},
            task, nullptr, width);
      if (int64_t done = folds * width; done < region.columns)
        run_shaped(context, {row, 1, region.column + done, region.columns - done}, task, nullptr,
                   0);
    }
    return;
  }
  for (int64_t row = 0; row < region.rows;) {
    int64_t rows =
        std::min<int64_t>({shape.rows, region.rows - row, rows_in_one_tile(region.row + row)});
    for (int64_t column = 0; column < region.columns; column += width)
      run_shaped(context,
                 {region.row + row, rows, region.column + column,
                  std::min(width, region.columns - column)},
                 task, nullptr, 0);
    row += rows;
  }
}

WalkOrder natural_order(const CompiledExpression& compiled, ir::ShapeTable shapes) {
  const ir::Shape& domain = shape_of(shapes, compiled.domain);
  const int rank = domain.rank();
  const auto strides = operand_strides(compiled, shapes, rank);

  // The traffic that is contiguous along each axis.
  std::array<double, ir::kMaxRank> contiguous = {};
  const AxisStrides* main_strides = nullptr;
  const AxisStrides* reduced_strides = nullptr;
  double main_bytes = -1;
  for (size_t i = 0; i < compiled.operands.size(); ++i) {
    const ProgramOperand& operand = compiled.operands[i];
    if (operand.kind == ProgramOperand::Kind::kReduction && !reduced_strides)
      reduced_strides = &strides[i];
    if (operand.kind != ProgramOperand::Kind::kLoad && operand.kind != ProgramOperand::Kind::kStore)
      continue;
    // A scattered store costs a read and a write.
    double bytes = static_cast<double>(shape_of(shapes, operand.tensor).volume()) *
                   static_cast<double>(detail::get_data_type_size(operand.type)) *
                   (operand.kind == ProgramOperand::Kind::kStore ? 2 : 1);
    for (int axis = 0; axis < rank; ++axis)
      if (strides[i][static_cast<size_t>(axis)] == 1)
        contiguous[static_cast<size_t>(axis)] += bytes;
    if (bytes > main_bytes) {
      main_bytes = bytes;
      main_strides = &strides[i];
    }
  }
  int column = rank - 1;
  double best = -1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (domain.dims[static_cast<size_t>(axis)] == 1) continue;
    // Where nothing is contiguous, the longest axis gives the fullest tiles.
    double score = contiguous[static_cast<size_t>(axis)] +
                   1e-12 * static_cast<double>(domain.dims[static_cast<size_t>(axis)]);
    if (score > best) {
      best = score;
      column = axis;
    }
  }
  WalkOrder order;
  for (int axis = 0; axis < rank; ++axis)
    if (axis != column) order.row_axes.push_back(axis);
  if (rank > 0) order.column_axes.push_back(column);
  auto sort_key = [&](int axis) {
    auto a = static_cast<size_t>(axis);
    bool is_reduced = reduced_strides && (*reduced_strides)[a] == 0;
    int64_t stride = main_strides ? std::abs((*main_strides)[a]) : 0;
    return std::tuple(is_reduced, -stride, axis);
  };
  std::ranges::sort(order.row_axes, {}, sort_key);
  return order;
}

}  // namespace warploom::cpu
