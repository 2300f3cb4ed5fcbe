#include "engines/cpu/bound_channel_gradient.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace warploom::cpu {
namespace {

constexpr int64_t kChannelPieceElements = 8192;  // of a row
constexpr int64_t kShortChannelRun = 256;        // shorter ones are gathered into longer pieces
constexpr double kInstructionsOfAChannel = 10;   // as instructions of tiles

const RowKernels& row_kernels(const KernelTable& kernels, DataType_t type) {
  return type == DataType_t::DOUBLE ? kernels.double_rows : kernels.float_rows;
}
const ColumnKernels& column_kernels(const KernelTable& kernels, DataType_t type) {
  return type == DataType_t::DOUBLE ? kernels.double_columns : kernels.float_columns;
}

}  // namespace

BoundChannelGradient::BoundChannelGradient(std::shared_ptr<const NormGradientProgram> program,
                                           NormGradientProblem problem, ir::ShapeTable shapes)
    : program_(std::move(program)), problem_(std::move(problem)) {
  const Machine& machine = program_->machine;
  const fusion::FusionGroup& group = program_->group;
  const NormGradientProblem& p = problem_;
  if (auto channels = channel_axes(shapes[static_cast<size_t>(p.x_id)], p.axes)) {
    has_columns_ = true;
    chunks_ = ChannelChunks(*channels);
    x_ = ChannelMatrix(group, shapes, p.x_id, *channels);
    dy_ = ChannelMatrix(group, shapes, p.dy_id, *channels);
    if (p.dx) dx_ = ChannelMatrix(group, shapes, p.dx_id, *channels);
  }
  is_parallel_ =
      cpu::predicted_microseconds(work(), machine.kernels->level, 1) >= kParallelMicroseconds;
  arrays_offset_ = layout_.add("numbers of each statistic", kArrays * p.rows * 8);
  parameters_offset_ = layout_.add("sums of each channel", 2 * p.parameters * 8);
  const int64_t elements =
      has_columns_ ? chunks_.block_elements() : std::min(p.length, kChannelPieceElements);
  if (has_columns_) sums_offset_ = layout_.add("sums of each chunk", chunks_.sum_bytes());
  buffer_bytes_ = round_up(elements * detail::get_data_type_size(p.compute), kScratchAlignment);
  scratch_offset_ = layout_.add("elements of each thread",
                                kBuffers * buffer_bytes_ * (is_parallel_ ? machine.threads() : 1));
}

double BoundChannelGradient::predicted_microseconds() const {
  return cpu::predicted_microseconds(work(), program_->machine.kernels->level,
                                     program_->machine.threads());
}

Work BoundChannelGradient::work() const {
  Work work;
  const double elements = static_cast<double>(problem_.rows) * static_cast<double>(problem_.length);
  work.interpreted = elements * kInstructionsOfAChannel;
  work.bytes = elements * (is_gradient() ? 5 : 1) * detail::get_data_type_size(problem_.x.type());
  work.tasks = has_columns_ ? chunks_.tasks() : problem_.rows;
  return work;
}

error_t BoundChannelGradient::launch(void*, std::span<void* const> pointers,
                                     void* workspace) const noexcept {
  const NormGradientProblem& p = problem_;
  const Machine& machine = program_->machine;
  Launch launch{pointers, static_cast<std::byte*>(workspace), 0};
  if (p.rows == 0) {
    write_channel_results(launch);
    return {};
  }
  if (p.epsilon) launch.epsilon = p.epsilon.element(pointers, 0, *machine.kernels);
  if (has_columns_) {
    run_columns(launch);
  } else {
    load_statistics(launch, 0, p.rows);
    machine.run(p.rows, is_parallel_,
                [&](int64_t row, int worker) { run_row(launch, row, worker); });
  }
  write_channel_results(launch);
  return {};
}

// Those that are given; what is normalized without a mean has none.
void BoundChannelGradient::load_statistics(const Launch& launch, int64_t begin, int64_t end) const {
  const KernelTable& kernels = *program_->machine.kernels;
  double *mean = array(launch, kMean), *inv_variance = array(launch, kInvVariance);
  const NormGradientProblem& p = problem_;
  for (int64_t s = begin; s < end; ++s) {
    mean[s] = p.mean ? p.mean.element(launch.pointers, s, kernels) : 0;
    inv_variance[s] = p.inv_variance ? p.inv_variance.element(launch.pointers, s, kernels) : 1;
  }
}

// DX = DY of_dy + (X - mean) of_x + offset.
void BoundChannelGradient::weigh(const Launch& launch, int64_t s) const {
  const auto count = static_cast<double>(problem_.length);
  const double scale = problem_.scale.element(launch.pointers, s, *program_->machine.kernels);
  const double factor = array(launch, kInvVariance)[s], of_dy = factor * scale;
  array(launch, kOfDy)[s] = of_dy;
  array(launch, kOfX)[s] = -of_dy * factor * (array(launch, kProducts)[s] / count);
  array(launch, kOffset)[s] = -of_dy * (array(launch, kSum)[s] / count);
}

void BoundChannelGradient::write_channel_results(const Launch& launch) const {
  const NormGradientProblem& p = problem_;
  const KernelTable& kernels = *program_->machine.kernels;
  const double *sums = array(launch, kSum), *products = array(launch, kProducts);
  auto* const totals = reinterpret_cast<double*>(launch.workspace + parameters_offset_);
  double* const product_totals = totals + p.parameters;
  for (int64_t i = 0; i < p.parameters; ++i) totals[i] = product_totals[i] = 0;
  for (int64_t s = 0; s < p.rows; ++s) {
    const int64_t channel = s / p.parameter_step % p.parameters;
    totals[channel] += sums[s];
    product_totals[channel] += products[s];
  }
  for (int64_t channel = 0; channel < p.parameters; ++channel) {
    const int64_t row = channel * p.parameter_step;
    p.dscale.set_element(launch.pointers, row, product_totals[channel], kernels);
    p.dbias.set_element(launch.pointers, row, totals[channel], kernels);
    p.sum.set_element(launch.pointers, row, totals[channel], kernels);
    p.squares.set_element(launch.pointers, row, product_totals[channel], kernels);
    if (!p.of_dy && !p.of_x && !p.offset) continue;
    // Of a whole channel, X itself is weighed.
    const double of_x = array(launch, kOfX)[row];
    p.of_dy.set_element(launch.pointers, row, array(launch, kOfDy)[row], kernels);
    p.of_x.set_element(launch.pointers, row, of_x, kernels);
    p.offset.set_element(launch.pointers, row,
                         array(launch, kOffset)[row] - of_x * array(launch, kMean)[row], kernels);
  }
}

int64_t BoundChannelGradient::piece_length(int64_t begin) const {
  const int64_t most = std::min(kChannelPieceElements, problem_.length - begin);
  const int64_t run = problem_.x.left_in_run(begin);
  return problem_.x.left_in_run(0) >= kShortChannelRun ? std::min(most, run) : most;
}

void BoundChannelGradient::run_row(const Launch& launch, int64_t row, int worker) const {
  const NormGradientProblem& p = problem_;
  const KernelTable& kernels = *program_->machine.kernels;
  const RowKernels& rows = row_kernels(kernels, p.compute);
  double& sum = array(launch, kSum)[row] = 0;
  double& products = array(launch, kProducts)[row] = 0;
  const auto for_each_piece = [&](auto&& function) {
    for (int64_t begin = 0; begin < p.length;) {
      const RowTensor::Piece piece{row, begin, piece_length(begin)};
      function(piece,
               p.x.piece(launch.pointers, piece, p.compute, scratch(launch, worker, 0), kernels));
      begin += piece.count;
    }
  };
  if (!is_gradient()) {
    for_each_piece([&](const RowTensor::Piece& piece, const void* x) {
      rows.shifted_sums(x, piece.count, 0, &sum, &products);
    });
    return;
  }
  double &mean = array(launch, kMean)[row], &inv_variance = array(launch, kInvVariance)[row];
  if (computes_statistics()) {
    ShiftedSums found;
    for_each_piece([&](const RowTensor::Piece& piece, const void* x) {
      if (piece.begin == 0) found.shift = ShiftedSums::shift_of(x, p.compute);
      rows.shifted_sums(x, piece.count, found.shift, &found.sum, &found.squares);
    });
    const auto count = static_cast<double>(p.length);
    mean = found.mean(count);
    inv_variance = 1 / std::sqrt(found.variance(count) + launch.epsilon);
  }
  GradientRow it{nullptr, nullptr, mean, inv_variance};
  const auto load = [&](const RowTensor::Piece& piece, const void* x) {
    it.x = x;
    it.dy = p.dy.piece(launch.pointers, piece, p.compute, scratch(launch, worker, 1), kernels);
  };
  for_each_piece([&](const RowTensor::Piece& piece, const void* x) {
    load(piece, x);
    rows.gradient_sums(it, nullptr, piece.count, &sum, &products);
  });
  weigh(launch, row);
  if (!p.dx) return;
  const GradientWeights weights{array(launch, kOfDy)[row], array(launch, kOfX)[row],
                                array(launch, kOffset)[row]};
  for_each_piece([&](const RowTensor::Piece& piece, const void* x) {
    load(piece, x);
    void* const dx = p.dx.target(launch.pointers, piece, p.compute, scratch(launch, worker, 2));
    rows.gradient(it, nullptr, piece.count, weights, dx);
    p.dx.write(launch.pointers, piece, p.compute, dx, kernels);
  });
}

void BoundChannelGradient::run_columns(const Launch& launch) const {
  const Machine& machine = program_->machine;
  const auto sum_up = [&](bool of_x) {
    machine.run(chunks_.tasks(), is_parallel_,
                [&](int64_t task, int worker) { sum_columns(launch, task, worker, of_x); });
    machine.run(chunks_.planes, is_parallel_,
                [&](int64_t plane, int) { finish_sums(launch, plane, of_x); });
  };
  load_statistics(launch, 0, problem_.rows);
  if (computes_statistics()) {
    for (int64_t plane = 0; plane < chunks_.planes; ++plane) shift_columns(launch, plane);
    sum_up(true);
  }
  sum_up(!is_gradient());
  if (!problem_.dx) return;
  machine.run(chunks_.tasks(), is_parallel_,
              [&](int64_t task, int worker) { write_columns(launch, task, worker); });
}

// The first row is what is subtracted while a mean is found.
void BoundChannelGradient::shift_columns(const Launch& launch, int64_t plane) const {
  const DataType_t type = problem_.compute;
  double* const mean = array(launch, kMean) + plane * chunks_.columns;
  if (chunks_.rows == 0) return;
  const ColumnMatrix first = x_.read(launch.pointers, {plane, 0, 1}, type, scratch(launch, 0, 0),
                                     *program_->machine.kernels);
  const auto* element = static_cast<const std::byte*>(first.data);
  for (int64_t c = 0; c < chunks_.columns; ++c)
    mean[c] = ShiftedSums::shift_of(element + c * detail::get_data_type_size(type), type);
}

void BoundChannelGradient::sum_columns(const Launch& launch, int64_t task, int worker,
                                       bool of_x) const {
  const KernelTable& kernels = *program_->machine.kernels;
  const ColumnKernels& columns = column_kernels(kernels, problem_.compute);
  double* const sums = chunks_.sums_of(launch.workspace + sums_offset_, task);
  std::fill(sums, sums + 2 * chunks_.columns, 0.0);
  chunks_.for_each_block(task, [&](const ChannelMatrix::Block& block) {
    const double* const mean = array(launch, kMean) + block.plane * chunks_.columns;
    const ColumnMatrix x =
        x_.read(launch.pointers, block, problem_.compute, scratch(launch, worker, 0), kernels);
    if (of_x)
      return columns.shifted_sums(x, block.rows, chunks_.columns, mean, sums,
                                  sums + chunks_.columns);
    const ColumnMatrix dy =
        dy_.read(launch.pointers, block, problem_.compute, scratch(launch, worker, 1), kernels);
    columns.gradient_sums(dy, x, block.rows, chunks_.columns, mean, sums, sums + chunks_.columns);
  });
}

void BoundChannelGradient::finish_sums(const Launch& launch, int64_t plane, bool of_x) const {
  std::byte* const sums = launch.workspace + sums_offset_;
  chunks_.add_up(sums, plane);
  const double* const total = chunks_.sums_of(sums, plane * chunks_.chunks);
  const auto count = static_cast<double>(chunks_.rows);
  double *mean = array(launch, kMean), *inv_variance = array(launch, kInvVariance);
  for (int64_t c = 0; c < chunks_.columns; ++c) {
    const int64_t s = plane * chunks_.columns + c;
    const double sum = total[c], products = total[chunks_.columns + c];
    if (of_x && is_gradient()) {
      ShiftedSums found;
      found.shift = mean[s], found.sum = sum, found.squares = products;
      mean[s] = found.mean(count);
      inv_variance[s] = 1 / std::sqrt(found.variance(count) + launch.epsilon);
      continue;
    }
    array(launch, kSum)[s] = sum;
    array(launch, kProducts)[s] = of_x ? products : products * inv_variance[s];
    if (is_gradient()) weigh(launch, s);
  }
}

void BoundChannelGradient::write_columns(const Launch& launch, int64_t task, int worker) const {
  const KernelTable& kernels = *program_->machine.kernels;
  const ColumnKernels& columns = column_kernels(kernels, problem_.compute);
  chunks_.for_each_block(task, [&](const ChannelMatrix::Block& block) {
    const int64_t first = block.plane * chunks_.columns;
    const ColumnMatrix x =
        x_.read(launch.pointers, block, problem_.compute, scratch(launch, worker, 0), kernels);
    const ColumnMatrix dy =
        dy_.read(launch.pointers, block, problem_.compute, scratch(launch, worker, 1), kernels);
    const ChannelMatrix::Target dx =
        dx_.target(launch.pointers, block, problem_.compute, scratch(launch, worker, 2));
    columns.gradient(dy, x, block.rows, chunks_.columns, array(launch, kMean) + first,
                     array(launch, kOfDy) + first, array(launch, kOfX) + first,
                     array(launch, kOffset) + first, dx.data, dx.stride);
    dx_.write(launch.pointers, block, problem_.compute, dx, kernels);
  });
}

}  // namespace warploom::cpu
