#include "engines/cpu/contraction.h"

#include <algorithm>

#include "engines/cpu/accumulators.h"

namespace warploom::cpu {
namespace {

constexpr int kMostTileColumns = 64, kMostTileRows = 32;  // at once
constexpr int kLeastTileColumns = 16;                     // what slots of programs are rounded to

}  // namespace

TileShape contraction_tile(const GemmKernels& kernels, int64_t columns) {
  const int unit = std::max(kernels.narrow.nr, kLeastTileColumns);
  const auto width = static_cast<int>(
      std::clamp<int64_t>(round_up(columns, unit), kLeastTileColumns, kMostTileColumns));
  const int rows = std::max(kMostTileRows / kernels.mr, 1) * kernels.mr;
  return {rows * kMostTileColumns / width / kernels.mr * kernels.mr, width};
}

DataType_t sum_type(const GemmKernels& kernels) {
  if (kernels.c_bytes == 8) return DataType_t::DOUBLE;
  return kernels.a_type == DataType_t::FLOAT || kernels.a_type == DataType_t::BFLOAT16
             ? DataType_t::FLOAT
             : DataType_t::INT32;
}

CompiledExpression compile_epilogue(const fusion::FusionGroup& group, const GemmKernels& kernels) {
  CompileOptions options;
  options.shape = contraction_tile(kernels);
  if (compute_type(choose_compute(group, group.epilogue)) != sum_type(kernels))
    options.anchor_type = sum_type(kernels);
  return compile_expression(group, group.epilogue, options);
}

void BoundContraction::finish_bind() {
  const GemmKernels& kernels = *base_->kernels;
  const Machine& machine = base_->machine;
  panels_ = divide_up(group_columns_, kernels.nr);
  if (steps_.empty()) steps_.push_back({.batch = 0});
  // Parts of a sum are better kept in a tile.
  if (steps_.size() == 1)
    kernel_epilogue_ = KernelEpilogue::make(epilogue_, kernels, group_columns_);
  tile_ = contraction_tile(kernels, group_columns_);
  epilogue_.set_tile_shape(tile_);
  is_parallel_ =
      cpu::predicted_microseconds(work_, machine.kernels->level, 1) >= kParallelMicroseconds;
  work_.tasks = grid_.row_tasks * grid_.column_tasks;
  // Small tasks are handed out several at a time, some 20 us of them.
  const double each = cpu::predicted_microseconds(work_, machine.kernels->level, 1) /
                      static_cast<double>(std::max<int64_t>(work_.tasks, 1));
  tasks_per_chunk_ = std::clamp<int64_t>(static_cast<int64_t>(20 / std::max(each, 0.01)), 1,
                                         std::max<int64_t>(work_.tasks / 16, 1));

  epilogue_.set_grid(grid_, base_->group, layout_);
  const int64_t threads = is_parallel_ ? machine.threads() : 1;
  b_offset_ = layout_.add("packed B", packs_b_ ? slots_per_phase_ * panels_ * panel_stride_ : 0);
  a_scratch_bytes_ = round_up(a_scratch_bytes_, kScratchAlignment);
  a_scratch_offset_ = layout_.add("packed A of each thread", a_scratch_bytes_ * threads);
  has_sum_tile_ = std::any_of(
      base_->epilogue.operands.begin(), base_->epilogue.operands.end(),
      [](const ProgramOperand& operand) { return operand.kind == ProgramOperand::Kind::kTile; });
  sums_offset_ = round_up(epilogue_.scratch_bytes(), kScratchAlignment);
  tiles_stride_ = sums_offset_ + (has_sum_tile_ ? tile_.rows * tile_.columns * kernels.c_bytes : 0);
  tiles_stride_ = round_up(tiles_stride_, kScratchAlignment);
  tiles_offset_ = layout_.add("tiles of each thread", tiles_stride_ * threads);
}

double BoundContraction::predicted_microseconds() const {
  return cpu::predicted_microseconds(work_, base_->machine.kernels->level,
                                     base_->machine.threads());
}

error_t BoundContraction::launch(void*, std::span<void* const> pointers,
                                 void* workspace) const noexcept {
  const Machine& machine = base_->machine;
  const Launch launch{pointers, static_cast<std::byte*>(workspace)};
  prepare(launch);
  start_reductions(epilogue_, launch.workspace, machine);
  const bool is_empty = epilogue_.rows() == 0 || epilogue_.columns() == 0;
  for (int64_t phase = 0; phase < phases_ && !is_empty; ++phase) {
    // Several panels at a time; as many as keep every thread busy.
    const int64_t run = std::max<int64_t>(panels_ * slots_per_phase_ / 32, 1);
    const int64_t runs = divide_up(panels_, run);
    machine.run(
        packs_b_ ? slots_per_phase_ * runs : 0, is_parallel_, [&](int64_t index, int worker) {
          const int64_t begin = index % runs * run;
          pack_b(launch, phase, index / runs, begin, std::min(begin + run, panels_), worker);
        });
    const int64_t first = phase * row_tasks_per_phase_;
    const int64_t row_tasks = std::min(row_tasks_per_phase_, grid_.row_tasks - first);
    const int64_t tasks = row_tasks * grid_.column_tasks;
    machine.run(divide_up(tasks, tasks_per_chunk_), is_parallel_, [&](int64_t chunk, int worker) {
      const int64_t end = std::min((chunk + 1) * tasks_per_chunk_, tasks);
      for (int64_t task = chunk * tasks_per_chunk_; task < end; ++task)
        run_task(launch, first + task / grid_.column_tasks, task % grid_.column_tasks, worker);
    });
  }
  finish_reductions(epilogue_, pointers, launch.workspace, machine);
  return {};
}

void BoundContraction::run_task(const Launch& launch, int64_t row_index, int64_t column_index,
                                int worker) const {
  const int64_t tasks_per_group = grid_.column_tasks / groups_;
  const int64_t group = column_index / tasks_per_group;
  const int64_t begin = column_index % tasks_per_group * columns_per_task_;
  const int64_t end = std::min(begin + columns_per_task_, group_columns_);
  Product product;
  product.group = group;
  product.task = row_task(row_index);
  product.a = rows_of_a(launch, product.task, group, worker);
  const RowTask& rows = product.task;
  const std::byte* const panels = panels_of_b(launch, rows, slot_of_b(rows, group));

  // Tiles are parts of one run, all of a size, or several whole runs.
  const int64_t run = std::min(product.a.run_length, rows.rows);
  const int64_t parts = divide_up(run, tile_.rows);
  const int64_t step = parts == 1 ? run * std::max<int64_t>(tile_.rows / run, 1) : run;
  for (product.column = begin; product.column < end; product.column += tile_.columns) {
    product.columns = std::min<int64_t>(tile_.columns, end - product.column);
    product.panel = panels + product.column / base_->kernels->nr * panel_stride_;
    for (int64_t first = 0; first < rows.rows; first += step) {
      const int64_t here = std::min(rows.rows - first, step);
      for (int64_t part = 0; part < parts; ++part) {
        product.row = first + here * part / parts;
        const int64_t stop = first + here * (part + 1) / parts;
        for (; product.row < stop; product.row += product.rows) {
          product.rows =
              std::min(stop - product.row, epilogue_.rows_in_one_tile(rows.row + product.row));
          run_tile(launch, product, {row_index, column_index}, worker);
        }
      }
    }
  }
}

void BoundContraction::run_tile(const Launch& launch, Product& product, TaskIndex task,
                                int worker) const {
  const Region region{product.task.row + product.row, product.rows,
                      product.group * group_columns_ + product.column, product.columns};
  if (kernel_epilogue_) {
    kernel_epilogue_->aim(product.tile, launch.pointers, region.row, region.column);
    multiply(launch, product);
    return;
  }
  std::byte* scratch = launch.workspace + tiles_offset_ + worker * tiles_stride_;
  const RunContext context{base_->machine.kernels, launch.pointers, launch.workspace, scratch};
  TileOperand sums;
  sums.data = epilogue_.anchor(context);
  sums.row_stride = TileProgram::slot_stride(tile_);
  sums.column_stride = 1;
  if (has_sum_tile_) {
    sums.data = scratch + sums_offset_;
    sums.row_stride = tile_.columns;
  }
  product.tile.c = sums.data;
  product.tile.c_row_stride = sums.row_stride * base_->kernels->c_bytes;
  multiply(launch, product);
  epilogue_.run_tile(context, region, task, &sums);
}

void BoundContraction::multiply(const Launch&, const Product& product) const {
  const GemmKernels& kernels = *base_->kernels;
  const RowSource& a = product.a;
  const int64_t panels = divide_up(product.columns, kernels.nr);
  const int64_t panel_bytes = static_cast<int64_t>(kernels.nr) * kernels.c_bytes;
  auto* const tile = static_cast<std::byte*>(product.tile.c);
  GemmTile call = product.tile;
  call.a_row_stride = a.row_stride;
  for (const SumStep& step : steps_) {
    call.a_batch_stride = step.a_batch_stride;
    call.b_batch_stride = step.b_batch_stride;
    call.k_steps = step.k_steps;
    call.batch = step.batch;
    const float* bias = &step == &steps_.back() ? product.tile.bias : nullptr;
    for (int64_t p = 0; p < panels; ++p) {
      const GemmShape& shape = kernels.shape_for(product.columns - p * kernels.nr);
      call.b = product.panel + p * panel_stride_ + step.b_offset;
      call.bias = bias ? bias + p * kernels.nr : nullptr;
      // Strips of nearly equal height, none across the end of a run.
      for (int64_t r = 0; r < product.rows;) {
        const int64_t at = product.row + r;
        const int64_t within = at % a.run_length;
        const int64_t left = std::min(product.rows - r, a.run_length - within);
        const int64_t strips = divide_up(left, shape.mr);
        const std::byte* source =
            a.a + at / a.run_length * a.run_stride + within * a.row_stride + step.a_offset;
        for (int64_t s = 0, done = 0; s < strips; ++s) {
          const int64_t next = left * (s + 1) / strips;
          call.a = source + done * a.row_stride;
          call.c = tile + (r + done) * call.c_row_stride + p * panel_bytes;
          shape.run(static_cast<int>(next - done), call);
          done = next;
        }
        r += left;
      }
    }
    call.accumulate = 1;
  }
}

}  // namespace warploom::cpu
