#include "engines/cpu/bound_channel_norm.h"

#include <algorithm>
#include <cmath>

#include "engines/cpu/accumulators.h"
#include "engines/cpu/row_statistics.h"

namespace warploom::cpu {
namespace {

constexpr TileShape kChannelTile{32, 64};  // no more elements than kNormTile has
constexpr double kInstructionsOfAChannelNorm = 6;

}  // namespace

std::optional<ChannelAxes> BoundChannelNorm::fits(const NormProblem& problem,
                                                  ir::ShapeTable shapes) {
  const auto is_one = [](const RowTensor& tensor) { return !tensor || tensor.is_constant_along(); };
  if (problem.kind == NormProblem::Kind::kSoftmax || !is_one(problem.scale) ||
      !is_one(problem.bias))
    return std::nullopt;
  return channel_axes(shapes[static_cast<size_t>(problem.x_id)], problem.axes);
}

BoundChannelNorm::BoundChannelNorm(std::shared_ptr<const NormProgram> program, NormProblem problem,
                                   const ChannelAxes& channels, ir::ShapeTable shapes)
    : program_(std::move(program)), problem_(std::move(problem)), chunks_(channels) {
  const Machine& machine = program_->machine;
  const fusion::FusionGroup& group = program_->group;
  kernels_ = problem_.compute == DataType_t::DOUBLE ? &machine.kernels->double_columns
                                                    : &machine.kernels->float_columns;
  x_ = ChannelMatrix(group, shapes, problem_.x_id, channels);
  if (program_->is_plain())
    y_ = ChannelMatrix(group, shapes, group.node(group.anchor).outputs[0], channels);

  WalkOrder order;
  for (size_t i = 0; i + 1 < channels.axes.kept.size(); ++i)
    order.row_axes.push_back(channels.axes.kept[i]);
  for (int axis : channels.axes.along) order.row_axes.push_back(axis);
  order.column_axes.push_back(channels.axes.kept.back());
  epilogue_.bind(program_->epilogue, group, shapes, order);
  epilogue_.set_tile_shape(kChannelTile);
  constexpr int64_t kMostAccumulatorBytes = int64_t{16} << 20;
  TaskGrid grid;
  for (;; chunks_.chunks /= 2) {
    grid.row_tasks = chunks_.tasks();
    grid.period_tasks = chunks_.chunks;
    grid.period_rows = std::max<int64_t>(chunks_.rows, 1);
    if (chunks_.chunks == 1 || epilogue_.accumulator_bytes(grid) <= kMostAccumulatorBytes) break;
  }
  epilogue_.set_grid(grid, group, layout_);

  is_parallel_ =
      cpu::predicted_microseconds(work(), machine.kernels->level, 1) >= kParallelMicroseconds;
  arrays_offset_ = layout_.add("numbers of each statistic", kArrays * chunks_.statistics() * 8);
  if (problem_.kind == NormProblem::Kind::kMoments)
    sums_offset_ = layout_.add("sums of each chunk", chunks_.sum_bytes());
  // X, Y, tiles.
  block_bytes_ = round_up(chunks_.block_elements() * detail::get_data_type_size(problem_.compute),
                          kScratchAlignment);
  scratch_stride_ = 2 * block_bytes_ + round_up(epilogue_.scratch_bytes(), kScratchAlignment);
  scratch_offset_ = layout_.add("elements of each thread",
                                scratch_stride_ * (is_parallel_ ? machine.threads() : 1));
}

double BoundChannelNorm::predicted_microseconds() const {
  return cpu::predicted_microseconds(work(), program_->machine.kernels->level,
                                     program_->machine.threads());
}

Work BoundChannelNorm::work() const {
  Work work;
  const double elements =
      static_cast<double>(chunks_.statistics()) * static_cast<double>(chunks_.rows);
  work.interpreted = elements * (kInstructionsOfAChannelNorm +
                                 program_->epilogue.program.view().instruction_count);
  work.bytes = 2 * elements * detail::get_data_type_size(problem_.x.type());
  for (const ProgramOperand& operand : program_->epilogue.operands)
    if (operand.kind == ProgramOperand::Kind::kLoad || operand.kind == ProgramOperand::Kind::kStore)
      work.bytes += elements * detail::get_data_type_size(operand.type);
  work.tasks = chunks_.tasks();
  return work;
}

error_t BoundChannelNorm::launch(void*, std::span<void* const> pointers,
                                 void* workspace) const noexcept {
  const Machine& machine = program_->machine;
  Launch launch{pointers, static_cast<std::byte*>(workspace), 0, 0};
  start_reductions(epilogue_, launch.workspace, machine);
  if (chunks_.statistics() > 0) {
    if (problem_.epsilon) launch.epsilon = problem_.epsilon.element(pointers, 0, *machine.kernels);
    if (problem_.momentum)
      launch.momentum = problem_.momentum.element(pointers, 0, *machine.kernels);
    if (problem_.kind == NormProblem::Kind::kMoments)
      find_statistics(launch);
    else
      load_statistics(launch);
    machine.run(chunks_.tasks(), is_parallel_,
                [&](int64_t task, int worker) { write_task(launch, task, worker); });
  }
  finish_reductions(epilogue_, pointers, launch.workspace, machine);
  return {};
}

void BoundChannelNorm::find_statistics(const Launch& launch) const {
  const Machine& machine = program_->machine;
  const int64_t columns = chunks_.columns;
  const DataType_t type = problem_.compute;
  // What is subtracted while a mean is found is the first row.
  double* const shift = array(launch, kMean);
  for (int64_t plane = 0; plane < chunks_.planes; ++plane) {
    std::fill(shift + plane * columns, shift + (plane + 1) * columns, 0.0);
    if (!problem_.is_centered || chunks_.rows == 0) continue;
    const ColumnMatrix first =
        x_.read(launch.pointers, {plane, 0, 1}, type, scratch(launch, 0), *machine.kernels);
    const auto* element = static_cast<const std::byte*>(first.data);
    for (int64_t c = 0; c < columns; ++c)
      shift[plane * columns + c] =
          ShiftedSums::shift_of(element + c * detail::get_data_type_size(type), type);
  }
  machine.run(chunks_.tasks(), is_parallel_, [&](int64_t task, int worker) {
    double* const sums = chunks_.sums_of(launch.workspace + sums_offset_, task);
    std::fill(sums, sums + 2 * columns, 0.0);
    chunks_.for_each_block(task, [&](const ChannelMatrix::Block& block) {
      const ColumnMatrix x =
          x_.read(launch.pointers, block, type, scratch(launch, worker), *machine.kernels);
      kernels_->shifted_sums(x, block.rows, columns, shift + block.plane * columns, sums,
                             sums + columns);
    });
  });
  machine.run(chunks_.planes, is_parallel_,
              [&](int64_t plane, int) { finish_statistics(launch, plane); });
}

void BoundChannelNorm::finish_statistics(const Launch& launch, int64_t plane) const {
  std::byte* const sums = launch.workspace + sums_offset_;
  chunks_.add_up(sums, plane);
  const double* const total = chunks_.sums_of(sums, plane * chunks_.chunks);
  const auto count = static_cast<double>(chunks_.rows);
  for (int64_t c = 0; c < chunks_.columns; ++c) {
    const int64_t s = plane * chunks_.columns + c;
    ShiftedSums found;
    found.is_centered = problem_.is_centered;
    found.shift = array(launch, kMean)[s];
    found.sum = total[c], found.squares = total[chunks_.columns + c];
    finish_statistic(launch, s, found.mean(count), found.variance(count));
  }
}

void BoundChannelNorm::finish_statistic(const Launch& launch, int64_t s, double mean,
                                        double variance) const {
  const KernelTable& kernels = *program_->machine.kernels;
  const NormProblem& p = problem_;
  const double inv_variance = 1 / std::sqrt(variance + launch.epsilon);
  p.mean.set_element(launch.pointers, s, mean, kernels);
  p.inv_variance.set_element(launch.pointers, s, inv_variance, kernels);
  if (p.momentum) {
    const auto count = static_cast<double>(chunks_.rows);
    const auto next = [&](const RowTensor& previous, double value) {
      return (1 - launch.momentum) * previous.element(launch.pointers, s, kernels) +
             launch.momentum * value;
    };
    p.next_mean.set_element(launch.pointers, s, next(p.previous_mean, mean), kernels);
    p.next_variance.set_element(launch.pointers, s,
                                next(p.previous_variance, variance * count / (count - 1)), kernels);
  }
  set_weights(launch, s, mean, inv_variance);
}

void BoundChannelNorm::load_statistics(const Launch& launch) const {
  const KernelTable& kernels = *program_->machine.kernels;
  for (int64_t s = 0; s < chunks_.statistics(); ++s)
    set_weights(launch, s, problem_.given_mean.element(launch.pointers, s, kernels),
                problem_.given_inv_variance.element(launch.pointers, s, kernels));
}

void BoundChannelNorm::set_weights(const Launch& launch, int64_t s, double mean,
                                   double inv_variance) const {
  const KernelTable& kernels = *program_->machine.kernels;
  const RowTensor &scale = problem_.scale, &bias = problem_.bias;
  array(launch, kMean)[s] = mean;
  array(launch, kFactor)[s] =
      inv_variance * (scale ? scale.element(launch.pointers, s, kernels) : 1);
  array(launch, kOffset)[s] = bias ? bias.element(launch.pointers, s, kernels) : 0;
}

void BoundChannelNorm::write_task(const Launch& launch, int64_t task, int worker) const {
  const KernelTable& kernels = *program_->machine.kernels;
  const DataType_t type = problem_.compute;
  std::byte* const x_buffer = scratch(launch, worker);
  std::byte* const y_buffer = x_buffer + block_bytes_;
  const int64_t columns = chunks_.columns;
  chunks_.for_each_block(task, [&](const ChannelMatrix::Block& block) {
    const int64_t first = block.plane * columns;
    const ColumnMatrix x = x_.read(launch.pointers, block, type, x_buffer, kernels);
    ChannelMatrix::Target y{y_buffer, columns};
    if (y_) y = y_.target(launch.pointers, block, type, y_buffer);
    kernels_->normalize(x, block.rows, columns, array(launch, kMean) + first,
                        array(launch, kFactor) + first, array(launch, kOffset) + first, y.data,
                        y.stride);
    if (y_)
      y_.write(launch.pointers, block, type, y, kernels);
    else
      run_epilogue(launch, block, task, y_buffer, y_buffer + block_bytes_);
  });
}

void BoundChannelNorm::run_epilogue(const Launch& launch, const ChannelMatrix::Block& block,
                                    int64_t task, const std::byte* values, std::byte* tiles) const {
  const RunContext context{program_->machine.kernels, launch.pointers, launch.workspace, tiles};
  const int64_t columns = chunks_.columns;
  const int64_t element_bytes = detail::get_data_type_size(problem_.compute);
  const int64_t first = block.plane * chunks_.rows + block.row;
  for (int64_t row = 0; row < block.rows;) {
    const int64_t rows = std::min<int64_t>(
        {kChannelTile.rows, block.rows - row, epilogue_.rows_in_one_tile(first + row)});
    for (int64_t column = 0; column < columns; column += kChannelTile.columns) {
      TileOperand tile;
      tile.data = const_cast<std::byte*>(values + (row * columns + column) * element_bytes);
      tile.row_stride = columns;
      tile.column_stride = 1;
      epilogue_.run_tile(
          context,
          {first + row, rows, column, std::min<int64_t>(kChannelTile.columns, columns - column)},
          {task, 0}, &tile);
    }
    row += rows;
  }
}

}  // namespace warploom::cpu
