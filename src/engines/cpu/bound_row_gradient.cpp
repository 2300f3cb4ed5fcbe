#include "engines/cpu/bound_row_gradient.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engines/cpu/row_statistics.h"

namespace warploom::cpu {
namespace {

constexpr int64_t kGradientBlockElements = 8192;  // of rows that stay in the cache
constexpr int64_t kMostGradientBlockRows = 8;
constexpr int64_t kGradientTaskElements = 32768;
constexpr int64_t kMostGradientTasks = 64;
constexpr int64_t kMostGradientSumBytes = int64_t{16} << 20;
constexpr int64_t kAddedPiece = 1024;            // of a row, when sums of tasks are added up
constexpr double kInstructionsOfAGradient = 14;  // as instructions of tiles

}  // namespace

BoundRowGradient::BoundRowGradient(std::shared_ptr<const NormGradientProgram> program,
                                   NormGradientProblem problem)
    : program_(std::move(program)), problem_(std::move(problem)) {
  const NormGradientProblem& p = problem_;
  const Machine& machine = program_->machine;
  kernels_ = p.compute == DataType_t::DOUBLE ? &machine.kernels->double_rows
                                             : &machine.kernels->float_rows;
  row_bytes_ = round_up(p.length * detail::get_data_type_size(p.compute), kScratchAlignment);
  has_parameter_gradients_ = p.dscale || p.dbias;
  rows_per_parameter_ = p.parameters == 0 ? 0 : p.rows / p.parameters;

  const int64_t length = std::max<int64_t>(p.length, 1);
  block_rows_ = std::clamp<int64_t>(kGradientBlockElements / length, 1, kMostGradientBlockRows);
  // However many threads there are.
  const int64_t most =
      std::clamp<int64_t>(std::min(kMostGradientTasks, kMostGradientSumBytes / (length * 16)) /
                              std::max<int64_t>(p.parameters, 1),
                          1, kMostGradientTasks);
  const int64_t wanted =
      std::clamp<int64_t>(divide_up(rows_per_parameter_ * length, kGradientTaskElements), 1, most);
  rows_per_task_ =
      round_up(divide_up(std::max<int64_t>(rows_per_parameter_, 1), wanted), block_rows_);
  tasks_per_parameter_ = divide_up(std::max<int64_t>(rows_per_parameter_, 1), rows_per_task_);

  is_parallel_ =
      cpu::predicted_microseconds(work(), machine.kernels->level, 1) >= kParallelMicroseconds;
  if (has_parameter_gradients_)
    sums_offset_ = layout_.add("sums for the parameters of each task",
                               p.parameters * tasks_per_parameter_ * 2 * p.length * 8);
  // X and DY of a block, DX and SCALE of a row.
  scratch_stride_ = (2 * block_rows_ + 2) * row_bytes_;
  scratch_offset_ =
      layout_.add("rows of each thread", scratch_stride_ * (is_parallel_ ? machine.threads() : 1));
}

double BoundRowGradient::predicted_microseconds() const {
  return cpu::predicted_microseconds(work(), program_->machine.kernels->level,
                                     program_->machine.threads());
}

Work BoundRowGradient::work() const {
  Work work;
  const double elements = static_cast<double>(problem_.rows) * static_cast<double>(problem_.length);
  work.interpreted = elements * kInstructionsOfAGradient;
  work.bytes = elements * 3 * detail::get_data_type_size(problem_.x.type());
  work.tasks = problem_.parameters * tasks_per_parameter_;
  return work;
}

error_t BoundRowGradient::launch(void*, std::span<void* const> pointers,
                                 void* workspace) const noexcept {
  const Machine& machine = program_->machine;
  auto* const memory = static_cast<std::byte*>(workspace);
  double epsilon = 0;
  if (problem_.epsilon && problem_.rows > 0)
    epsilon = problem_.epsilon.element(pointers, 0, *machine.kernels);
  machine.run(problem_.parameters * tasks_per_parameter_, is_parallel_,
              [&](int64_t task, int worker) { run_task(pointers, memory, epsilon, task, worker); });
  if (!has_parameter_gradients_) return {};
  const int64_t pieces = divide_up(problem_.length, kAddedPiece);
  machine.run(problem_.parameters * pieces, is_parallel_, [&](int64_t index, int) {
    const int64_t begin = index % pieces * kAddedPiece;
    add_up(pointers, memory, index / pieces, begin, std::min(kAddedPiece, problem_.length - begin));
  });
  return {};
}

void BoundRowGradient::run_task(std::span<void* const> pointers, std::byte* workspace,
                                double epsilon, int64_t task, int worker) const {
  const NormGradientProblem& p = problem_;
  const KernelTable& kernels = *program_->machine.kernels;
  std::byte* const scratch = workspace + scratch_offset_ + worker * scratch_stride_;
  std::byte* const dx_buffer = scratch + 2 * block_rows_ * row_bytes_;
  double* const sums = sums_of(workspace, task);
  if (has_parameter_gradients_ && p.length > 0)
    std::memset(sums, 0, static_cast<size_t>(2 * p.length) * sizeof(double));
  const int64_t first = task / tasks_per_parameter_ * rows_per_parameter_;
  const int64_t begin = task % tasks_per_parameter_ * rows_per_task_;
  const int64_t end = std::min(begin + rows_per_task_, rows_per_parameter_);
  if (begin >= end || p.length == 0) return;
  const void* const scale =
      p.scale.row(pointers, first + begin, p.compute, dx_buffer + row_bytes_, kernels);
  const auto count = static_cast<double>(p.length);

  GradientRow block[kMostGradientBlockRows];
  for (int64_t at = begin; at < end; at += block_rows_) {
    const int64_t rows = std::min(block_rows_, end - at);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t row = first + at + i;
      GradientRow& it = block[i];
      it.x = p.x.row(pointers, row, p.compute, scratch + 2 * i * row_bytes_, kernels);
      it.dy = p.dy.row(pointers, row, p.compute, scratch + (2 * i + 1) * row_bytes_, kernels);
      if (p.inv_variance) {
        it.mean = p.mean ? p.mean.element(pointers, row, kernels) : 0;
        it.inv_variance = p.inv_variance.element(pointers, row, kernels);
      } else {
        ShiftedSums found(it.x, p.compute, p.is_centered);
        kernels_->shifted_sums(it.x, p.length, found.shift, &found.sum, &found.squares);
        it.mean = found.mean(count);
        it.inv_variance = 1 / std::sqrt(found.variance(count) + epsilon);
      }
      if (!p.dx) continue;
      double sum = 0, products = 0;
      kernels_->gradient_sums(it, scale, p.length, &sum, &products);
      const double factor = it.inv_variance;
      const RowTensor::Piece whole{row, 0, p.length};
      void* const dx = p.dx.target(pointers, whole, p.compute, dx_buffer);
      kernels_->gradient(it, scale, p.length,
                         {factor, -factor * factor * (products / count),
                          p.is_centered ? -factor * (sum / count) : 0},
                         dx);
      p.dx.write(pointers, whole, p.compute, dx, kernels);
    }
    if (has_parameter_gradients_)
      kernels_->parameter_gradients(block, rows, p.length, sums, sums + p.length);
  }
}

void BoundRowGradient::add_up(std::span<void* const> pointers, std::byte* workspace,
                              int64_t parameter, int64_t begin, int64_t count) const {
  const NormGradientProblem& p = problem_;
  const KernelTable& kernels = *program_->machine.kernels;
  const int64_t first = parameter * tasks_per_parameter_;
  const RowTensor::Piece piece{parameter * rows_per_parameter_, begin, count};
  for (int64_t which = 0; which < 2; ++which) {
    double* const total = sums_of(workspace, first) + which * p.length + begin;
    for (int64_t task = 1; task < tasks_per_parameter_; ++task) {
      const double* const next = sums_of(workspace, first + task) + which * p.length + begin;
      for (int64_t i = 0; i < count; ++i) total[i] += next[i];
    }
    const RowTensor& result = which == 0 ? p.dscale : p.dbias;
    if (!result) continue;
    void* const target = result.target(pointers, piece, DataType_t::DOUBLE, total);
    if (target != total) std::memcpy(target, total, static_cast<size_t>(count) * sizeof(double));
    result.write(pointers, piece, DataType_t::DOUBLE, total, kernels);
  }
}

}  // namespace warploom::cpu
