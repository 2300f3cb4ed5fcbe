#include "engines/cpu/bound_norm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engines/cpu/anchor_tiles.h"
#include "engines/cpu/bound_channel_norm.h"
#include "engines/cpu/cost_model.h"
#include "engines/cpu/row_statistics.h"

namespace warploom::cpu {
namespace {

constexpr int64_t kBlockElements = 8192;  // of rows whose values stay in the cache
constexpr int64_t kTaskElements = 32768;
constexpr double kInstructionsOfARow = 8;  // statistics and normalization, as instructions of tiles

/// One row serves all rows.
bool is_shared(const RowTensor& parameter) {
  return !parameter || parameter.is_same_for_rows();
}

}  // namespace

bool NormProgram::is_plain() const {
  return group.epilogue.values.size() == 1 && group.epilogue.outputs.size() == 1 &&
         group.epilogue.outputs[0].reduction == ir::kNoNode;
}

Result<std::unique_ptr<CpuBoundKernel>> bind_norm(std::shared_ptr<const NormProgram> program,
                                                  ir::ShapeTable shapes) {
  NormProblem problem(program->group, shapes);
  if (auto channels = BoundChannelNorm::fits(problem, shapes))
    return std::unique_ptr<CpuBoundKernel>(std::make_unique<BoundChannelNorm>(
        std::move(program), std::move(problem), *channels, shapes));
  return std::unique_ptr<CpuBoundKernel>(
      std::make_unique<BoundNorm>(std::move(program), std::move(problem), shapes));
}

BoundNorm::BoundNorm(std::shared_ptr<const NormProgram> program, NormProblem problem,
                     ir::ShapeTable shapes)
    : program_(std::move(program)), problem_(std::move(problem)) {
  const Machine& machine = program_->machine;
  const bool is_double = problem_.compute == DataType_t::DOUBLE;
  kernels_ = is_double ? &machine.kernels->double_rows : &machine.kernels->float_rows;
  row_bytes_ =
      round_up(problem_.length * detail::get_data_type_size(problem_.compute), kScratchAlignment);
  bind_epilogue(shapes);
  has_parameter_rows_ = (problem_.scale && !problem_.scale.is_constant_along()) ||
                        (problem_.bias && !problem_.bias.is_constant_along());
  scale_ = bind_parameter(problem_.scale, 1, "scale of every row");
  bias_ = bind_parameter(problem_.bias, 0, "bias of every row");

  is_parallel_ =
      cpu::predicted_microseconds(work(), machine.kernels->level, 1) >= kParallelMicroseconds;
  // X, scale and bias of the current row; the results of a block; tiles.
  parameter_bytes_ = round_up(problem_.length * 8, kScratchAlignment);
  results_offset_ = row_bytes_ + 2 * parameter_bytes_;
  tiles_offset_ = results_offset_ + block_rows_ * row_bytes_;
  scratch_stride_ = tiles_offset_ + round_up(epilogue_.scratch_bytes(), kScratchAlignment);
  scratch_offset_ =
      layout_.add("rows of each thread", scratch_stride_ * (is_parallel_ ? machine.threads() : 1));
}

// As many axes along a row as are one in memory become the columns of tiles.
void BoundNorm::bind_epilogue(ir::ShapeTable shapes) {
  const RowAxes& axes = problem_.axes;
  for (size_t split = 0;; ++split) {
    const auto first_column = axes.along.begin() + static_cast<ptrdiff_t>(split);
    WalkOrder order{{axes.kept.begin(), axes.kept.end()}, {first_column, axes.along.end()}};
    for (auto axis = axes.along.begin(); axis != first_column; ++axis)
      order.row_axes.push_back(*axis);
    if (epilogue_.bind(program_->epilogue, program_->group, shapes, order)) break;
    segments_ *= axes.dims[static_cast<size_t>(axes.along[split])];
  }
  const int64_t length = std::max<int64_t>(problem_.length, 1);
  block_rows_ = std::clamp<int64_t>(kBlockElements / length, 1, kNormTile.rows);
  const int64_t rows_per_task =
      std::max(block_rows_, round_up(kTaskElements / length, block_rows_));
  grid_ = cut_rows(epilogue_, rows_per_task * std::max<int64_t>(segments_, 1));
  epilogue_.set_grid(grid_, program_->group, layout_);
}

// A row that all rows share is made once: of a tensor that says so, or to go with the other
// parameter if that is a row.
BoundNorm::Parameter BoundNorm::bind_parameter(const RowTensor& tensor, double neutral,
                                               const char* purpose) {
  Parameter parameter{.tensor = &tensor, .neutral = neutral};
  if (has_parameter_rows_ && is_shared(tensor))
    parameter.shared_offset =
        layout_.add(purpose, round_up(problem_.length * 8, kScratchAlignment));
  return parameter;
}

double BoundNorm::predicted_microseconds() const {
  return cpu::predicted_microseconds(work(), program_->machine.kernels->level,
                                     program_->machine.threads());
}

Work BoundNorm::work() const {
  Work work;
  const double elements = static_cast<double>(problem_.rows) * static_cast<double>(problem_.length);
  work.interpreted =
      elements * (kInstructionsOfARow + program_->epilogue.program.view().instruction_count);
  work.bytes = elements * detail::get_data_type_size(problem_.x.type());
  for (const ProgramOperand& operand : program_->epilogue.operands)
    if (operand.kind == ProgramOperand::Kind::kLoad || operand.kind == ProgramOperand::Kind::kStore)
      work.bytes += elements * detail::get_data_type_size(operand.type);
  work.tasks = grid_.row_tasks;
  return work;
}

error_t BoundNorm::launch(void*, std::span<void* const> pointers, void* workspace) const noexcept {
  const Machine& machine = program_->machine;
  Launch launch{pointers, static_cast<std::byte*>(workspace), 0, 0};
  start_reductions(epilogue_, launch.workspace, machine);
  if (problem_.rows > 0) {
    if (problem_.epsilon) launch.epsilon = problem_.epsilon.element(pointers, 0, *machine.kernels);
    if (problem_.momentum)
      launch.momentum = problem_.momentum.element(pointers, 0, *machine.kernels);
    if (has_parameter_rows_)
      for (const Parameter* parameter : {&scale_, &bias_})
        if (is_shared(*parameter->tensor)) fill_shared(launch, *parameter);
    const int64_t task_rows = grid_.period_rows / std::max<int64_t>(segments_, 1);
    const int64_t tasks = divide_up(problem_.rows, std::max<int64_t>(task_rows, 1));
    machine.run(tasks, is_parallel_, [&](int64_t task, int worker) {
      const int64_t end = std::min(problem_.rows, (task + 1) * task_rows);
      for (int64_t row = task * task_rows; row < end; row += block_rows_)
        run_block(launch, task, row, std::min(block_rows_, end - row), worker);
    });
  }
  finish_reductions(epilogue_, pointers, launch.workspace, machine);
  return {};
}

void BoundNorm::fill_shared(const Launch& launch, const Parameter& parameter) const {
  const RowTensor& tensor = *parameter.tensor;
  const KernelTable& kernels = *program_->machine.kernels;
  std::byte* target = launch.workspace + parameter.shared_offset;
  const void* row = target;
  if (parameter.is_row())
    row = tensor.row(launch.pointers, 0, DataType_t::DOUBLE, target, kernels);
  else
    fill_row(parameter_element(launch, parameter, 0), DataType_t::DOUBLE, target);
  if (row != target)
    kernels.convert(row, DataType_t::DOUBLE, 1, target, DataType_t::DOUBLE, 1, problem_.length);
}

void BoundNorm::fill_row(double value, DataType_t type, std::byte* target) const {
  program_->machine.kernels->convert(&value, DataType_t::DOUBLE, 0, target, type, 1,
                                     problem_.length);
}

double BoundNorm::parameter_element(const Launch& launch, const Parameter& parameter,
                                    int64_t row) const {
  const RowTensor& tensor = *parameter.tensor;
  return tensor ? tensor.element(launch.pointers, row, *program_->machine.kernels)
                : parameter.neutral;
}

const void* BoundNorm::parameter_row(const Launch& launch, const Parameter& parameter, int64_t row,
                                     std::byte* buffer) const {
  const RowTensor& tensor = *parameter.tensor;
  if (is_shared(tensor)) return launch.workspace + parameter.shared_offset;
  if (parameter.is_row())
    return tensor.row(launch.pointers, row, DataType_t::DOUBLE, buffer, *program_->machine.kernels);
  fill_row(parameter_element(launch, parameter, row), DataType_t::DOUBLE, buffer);
  return buffer;
}

void BoundNorm::run_block(const Launch& launch, int64_t task, int64_t first, int64_t rows,
                          int worker) const {
  std::byte* scratch = launch.workspace + scratch_offset_ + worker * scratch_stride_;
  std::byte* results = scratch + results_offset_;
  const int64_t element_bytes = detail::get_data_type_size(problem_.compute);
  if (program_->is_plain()) {
    for (int64_t row = first; row < first + rows; ++row) {
      const RowTensor::Piece whole{row, 0, problem_.length};
      void* const y = problem_.y.target(launch.pointers, whole, problem_.compute, results);
      run_row(launch, row, static_cast<std::byte*>(y), scratch);
      problem_.y.write(launch.pointers, whole, problem_.compute, y, *program_->machine.kernels);
    }
    return;
  }
  for (int64_t row = 0; row < rows; ++row)
    run_row(launch, first + row, results + row * problem_.length * element_bytes, scratch);
  if (problem_.length == 0) return;

  // Rows of the epilogue lie one after the other.
  const RunContext context{program_->machine.kernels, launch.pointers, launch.workspace,
                           scratch + tiles_offset_};
  const int64_t columns = epilogue_.columns(), end = rows * segments_;
  for (int64_t row = 0; row < end;) {
    const int64_t at = first * segments_ + row;
    const int64_t tile_rows =
        std::min<int64_t>({kNormTile.rows, end - row, epilogue_.rows_in_one_tile(at)});
    for (int64_t column = 0; column < columns; column += kNormTile.columns) {
      TileOperand tile;
      tile.data = results + (row * columns + column) * element_bytes;
      tile.row_stride = columns;
      tile.column_stride = 1;
      epilogue_.run_tile(
          context, {at, tile_rows, column, std::min<int64_t>(kNormTile.columns, columns - column)},
          {task, 0}, &tile);
    }
    row += tile_rows;
  }
}

void BoundNorm::run_row(const Launch& launch, int64_t row, std::byte* result,
                        std::byte* scratch) const {
  const KernelTable& kernels = *program_->machine.kernels;
  const void* x = problem_.x.row(launch.pointers, row, problem_.compute, scratch, kernels);
  Affine affine{};
  switch (problem_.kind) {
    case NormProblem::Kind::kSoftmax:
      affine = softmax_row(launch, row, x, result);
      break;
    case NormProblem::Kind::kMoments:
      affine = moments_row(launch, row, x);
      break;
    case NormProblem::Kind::kGiven:
      affine = {x, problem_.given_mean.element(launch.pointers, row, kernels),
                problem_.given_inv_variance.element(launch.pointers, row, kernels)};
      break;
  }
  if (has_parameter_rows_) {
    const void* scale = parameter_row(launch, scale_, row, scratch + row_bytes_);
    const void* bias = parameter_row(launch, bias_, row, scratch + row_bytes_ + parameter_bytes_);
    kernels_->normalize_scaled(affine.values, problem_.length, affine.mean, affine.factor,
                               static_cast<const double*>(scale), static_cast<const double*>(bias),
                               result);
  } else {
    kernels_->normalize(affine.values, problem_.length, affine.mean,
                        affine.factor * parameter_element(launch, scale_, row),
                        parameter_element(launch, bias_, row), result);
  }
}

BoundNorm::Affine BoundNorm::softmax_row(const Launch& launch, int64_t row, const void* x,
                                         std::byte* result) const {
  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  const KernelTable& kernels = *program_->machine.kernels;
  double sink = kMinusInfinity;
  if (problem_.sink) sink = problem_.sink.element(launch.pointers, row, kernels);
  double maximum = kernels_->maximum(x, problem_.length);
  if (!std::isnan(maximum) && !(sink < maximum)) maximum = sink;
  const bool is_empty = maximum == kMinusInfinity;
  double sum = 0;
  if (is_empty)
    fill_row(0, problem_.compute, result);
  else
    sum = kernels_->exponentials(x, problem_.length, maximum, result) + std::exp(sink - maximum);
  problem_.maximum.set_element(launch.pointers, row, maximum, kernels);
  problem_.sum.set_element(launch.pointers, row, sum, kernels);
  problem_.stats.set_element(launch.pointers, row,
                             is_empty ? kMinusInfinity : maximum + std::log(sum), kernels);
  return {result, 0, is_empty ? 0 : 1 / sum};
}

BoundNorm::Affine BoundNorm::moments_row(const Launch& launch, int64_t row, const void* x) const {
  const KernelTable& kernels = *program_->machine.kernels;
  const NormProblem& p = problem_;
  const auto count = static_cast<double>(p.length);
  ShiftedSums found;
  if (p.length > 0) found = ShiftedSums(x, p.compute, p.is_centered);
  kernels_->shifted_sums(x, p.length, found.shift, &found.sum, &found.squares);
  const double mean = found.mean(count), variance = found.variance(count);
  const double inv_variance = 1 / std::sqrt(variance + launch.epsilon);
  p.mean.set_element(launch.pointers, row, mean, kernels);
  p.inv_variance.set_element(launch.pointers, row, inv_variance, kernels);
  if (p.momentum) {
    const auto next = [&](const RowTensor& previous, double value) {
      return (1 - launch.momentum) * previous.element(launch.pointers, row, kernels) +
             launch.momentum * value;
    };
    p.next_mean.set_element(launch.pointers, row, next(p.previous_mean, mean), kernels);
    p.next_variance.set_element(launch.pointers, row,
                                next(p.previous_variance, variance * count / (count - 1)), kernels);
  }
  return {x, mean, inv_variance};
}

}  // namespace warploom::cpu
