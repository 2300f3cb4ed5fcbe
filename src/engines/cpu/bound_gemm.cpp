#include "engines/cpu/bound_gemm.h"

#include <algorithm>
#include <cstring>

namespace warploom::cpu {
namespace {

constexpr int64_t kPackedBytes = int64_t{4} << 20;  // of B at a time: it should stay in the cache

// Column-major results are the transposes of row-major ones.
bool is_transposed(const fusion::FusionGroup& group, ir::ShapeTable shapes) {
  for (const fusion::ExpressionOutput& output : group.epilogue.outputs) {
    if (output.reduction != ir::kNoNode) continue;
    const ir::Shape& shape = shapes[static_cast<size_t>(output.tensor)];
    const size_t rank = shape.dims.size();
    if (rank < 2) return false;
    return shape.strides[rank - 1] != 1 && shape.strides[rank - 2] == 1 &&
           shape.dims[rank - 1] != 1 && shape.dims[rank - 2] != 1;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<CpuBoundKernel>> BoundGemm::make(std::shared_ptr<const GemmProgram> program,
                                                        ir::ShapeTable shapes) {
  auto bound = std::make_unique<BoundGemm>();
  bound->bind(std::move(program), shapes);
  return std::unique_ptr<CpuBoundKernel>(std::move(bound));
}

void BoundGemm::bind(std::shared_ptr<const GemmProgram> program, ir::ShapeTable shapes) {
  base_ = program_ = std::move(program);
  const fusion::FusionGroup& group = base_->group;
  const GemmKernels& kernels = *base_->kernels;
  const ir::Shape& result = shapes[static_cast<size_t>(group.node(group.anchor).outputs[0])];
  const int rank = result.rank();
  const int m_axis = rank - 2, n_axis = rank - 1;
  const bool swaps = is_transposed(group, shapes);

  WalkOrder order;
  for (int axis = 0; axis < m_axis; ++axis) order.row_axes.push_back(axis);
  order.row_axes.push_back(swaps ? n_axis : m_axis);
  order.column_axes.push_back(swaps ? m_axis : n_axis);
  epilogue_.bind(base_->epilogue, group, shapes, order);

  auto prologue = [&](size_t port) {
    return program_->prologues[port] ? &*program_->prologues[port] : nullptr;
  };
  // Of A, K is the last axis; of B, the one before.
  a_.bind(group, shapes, swaps ? 1 : 0, swaps ? n_axis : m_axis, swaps ? m_axis : n_axis,
          prologue(swaps ? 1 : 0));
  b_.bind(group, shapes, swaps ? 0 : 1, swaps ? m_axis : n_axis, swaps ? n_axis : m_axis,
          prologue(swaps ? 0 : 1));
  batches_ = 1;
  for (int axis = 0; axis < m_axis; ++axis) batches_ *= result.dims[static_cast<size_t>(axis)];
  // One B for all: the batches are more rows.
  if (batches_ > 1 && b_.own_batches() == 1 && a_.flatten_batches()) batches_ = 1;
  rows_ = a_.extent();
  columns_ = group_columns_ = b_.extent();
  depth_ = a_.depth();

  packs_b_ = !reads_b_in_place();
  add_steps();

  work_.flops = 2.0 * static_cast<double>(batches_) * static_cast<double>(rows_) *
                static_cast<double>(columns_) * static_cast<double>(depth_);
  work_.element_bytes = kernels.c_bytes == 8 ? 8 : 4;
  cut(static_cast<int64_t>(work_.flops));

  // Rows a page apart fall on the same lines of the L1 cache.
  const bool is_aliased = a_.extent_stride() * a_.element_bytes() % kPage == 0 &&
                          columns_ > contraction_tile(kernels).columns;
  packs_a_ = a_.has_prologue() || a_.type() != kernels.a_type || a_.k_stride() != 1 ||
             depth_ % kernels.k_per_step != 0 || is_aliased;
  if (packs_a_) {
    packed_row_stride_ =
        round_up(kernels.k_steps(depth_) * kernels.k_per_step * kernels.a_bytes, kScratchAlignment);
    if (packed_row_stride_ % kPage == 0) packed_row_stride_ += kScratchAlignment;
    a_scratch_bytes_ = divide_up(rows_, blocks_) * packed_row_stride_;
  }

  const int64_t b_bytes = packs_b_ ? divide_up(columns_, kernels.nr) * panel_stride_ : 0;
  int64_t batches_per_phase =
      b_.own_batches() == 1
          ? batches_
          : std::clamp<int64_t>(kPackedBytes / std::max<int64_t>(b_bytes, 1), 1, batches_);
  slots_per_phase_ = b_.own_batches() == 1 ? 1 : batches_per_phase;
  phases_ = batches_ == 0 ? 0 : divide_up(batches_, batches_per_phase);
  row_tasks_per_phase_ = batches_per_phase * blocks_;

  const double tile_rows = static_cast<double>(round_up(divide_up(rows_, blocks_), kernels.mr)) *
                           static_cast<double>(blocks_);
  work_.efficiency =
      0.9 * static_cast<double>(std::max<int64_t>(rows_, 1)) / std::max(tile_rows, 1.0) *
      static_cast<double>(std::max<int64_t>(columns_, 1)) /
      static_cast<double>(std::max<int64_t>(round_up(columns_, kernels.narrow.nr), 1));
  const double elements =
      static_cast<double>(batches_) * static_cast<double>(rows_) * static_cast<double>(columns_);
  work_.interpreted = elements * base_->epilogue.program.view().instruction_count +
                      // Packing: every element of B once, of A once per column task.
                      (packs_b_ ? static_cast<double>(slots_per_phase_ * phases_) *
                                      static_cast<double>(columns_ * depth_)
                                : 0) +
                      (packs_a_ ? static_cast<double>(batches_ * grid_.column_tasks) *
                                      static_cast<double>(rows_ * depth_)
                                : 0);
  work_.bytes = static_cast<double>(a_.element_bytes()) * static_cast<double>(batches_ * rows_) *
                    static_cast<double>(depth_) +
                static_cast<double>(b_.element_bytes()) * static_cast<double>(b_.own_batches()) *
                    static_cast<double>(columns_ * depth_) +
                4 * elements;
  finish_bind();
  prologue_stride_ = round_up(std::max(a_.scratch_bytes(), b_.scratch_bytes()), kScratchAlignment);
  prologue_offset_ =
      layout_.add("tiles of the prologues", prologue_stride_ * base_->machine.threads());
}

// Packing pays when rows share it. For one strip of them, B is read once, and where it lies.
bool BoundGemm::reads_b_in_place() const {
  const GemmKernels& kernels = *base_->kernels;
  return b_.type() == kernels.a_type && kernels.k_per_step == 1 && !b_.has_prologue() &&
         b_.extent_stride() == 1 && kernels.fits(columns_) &&
         batches_ * rows_ <= kernels.mr * b_.own_batches();
}

// Of a B that is not packed, every row is a part of its own. Few at a time: columns of other panels
// are on the same pages.
void BoundGemm::add_steps() {
  constexpr int64_t kRowsInPlace = 64;
  const GemmKernels& kernels = *base_->kernels;
  const int64_t k_block =
      round_up(knob_value(base_->knobs, KnobType_t::TILEK, 512), kernels.k_per_step);
  const int64_t row_bytes = b_.k_stride() * b_.element_bytes();
  const int64_t most = packs_b_ ? k_block : kRowsInPlace;
  for (int64_t k = 0; k < depth_; k += most) {
    const int64_t length = std::min(most, depth_ - k);
    SumStep step;
    step.a_offset = k * kernels.a_bytes;
    if (packs_b_) {
      step.b_offset = k / kernels.k_per_step * kernels.step_bytes();
      step.k_steps = kernels.k_steps(length);
    } else {
      step.b_offset = k * row_bytes;
      step.a_batch_stride = kernels.a_bytes;
      step.b_batch_stride = row_bytes;
      step.k_steps = 1;
      step.batch = length;
    }
    steps_.push_back(step);
  }
  panel_stride_ =
      packs_b_ ? kernels.k_steps(depth_) * kernels.step_bytes() : kernels.nr * b_.element_bytes();
}

// Rows in even blocks. While those are few, they are made smaller, and columns are cut as well.
void BoundGemm::cut(int64_t flops) {
  constexpr int64_t kManyTasks = 32;
  constexpr int64_t kFlopsPerTask = 2'000'000;
  const TileShape tile = contraction_tile(*base_->kernels);
  const int64_t block = knob_value(base_->knobs, KnobType_t::TILE_M, 2 * tile.rows);
  const int64_t wanted = std::clamp<int64_t>(flops / kFlopsPerTask, 1, kManyTasks);
  const int64_t rows = std::max<int64_t>(rows_, 1);
  blocks_ = divide_up(rows, block);
  if (batches_ * blocks_ < wanted) blocks_ = divide_up(rows, std::min<int64_t>(block, tile.rows));
  if (blocks_ > 1 && blocks_ < wanted) blocks_ = std::min(round_up(blocks_, 2), rows);
  const int64_t tasks = std::max<int64_t>(batches_ * blocks_, 1);
  const int64_t most_column_tasks = divide_up(std::max<int64_t>(columns_, 1), tile.columns);
  const int64_t column_tasks =
      knob_value(base_->knobs, KnobType_t::SPLIT_COLS, divide_up(wanted, tasks));
  columns_per_task_ = round_up(divide_up(std::max<int64_t>(columns_, 1),
                                         std::clamp<int64_t>(column_tasks, 1, most_column_tasks)),
                               tile.columns);
  grid_.column_tasks = divide_up(std::max<int64_t>(columns_, 1), columns_per_task_);
  grid_.row_tasks = batches_ * blocks_;
  grid_.period_tasks = blocks_;
  grid_.period_rows = rows;
}

RunContext BoundGemm::prologue_context(const Launch& launch, int worker) const {
  return {base_->machine.kernels, launch.pointers, launch.workspace,
          launch.workspace + prologue_offset_ + worker * prologue_stride_};
}

void BoundGemm::pack_b(const Launch& launch, int64_t phase, int64_t slot, int64_t begin,
                       int64_t end, int worker) const {
  const GemmKernels& kernels = *base_->kernels;
  const int64_t own = b_.own_batch(phase * slots_per_phase_ + slot);
  if (phase * slots_per_phase_ + slot >= batches_) return;
  const int64_t first = begin * kernels.nr, last = std::min(end * kernels.nr, columns_);
  std::byte* target = b_panel(launch, slot, begin);
  if (b_.has_prologue()) {
    for (int64_t column = first; column < last; column += kernels.nr, target += panel_stride_) {
      const int64_t stop = std::min(column + kernels.nr, last);
      if (stop - column < kernels.nr) std::memset(target, 0, static_cast<size_t>(panel_stride_));
      b_.run_prologue(prologue_context(launch, worker), own, column, stop, target, kernels.a_bytes,
                      1, kernels.nr);
    }
    return;
  }
  PackSource source;
  source.data = b_.data(launch.pointers, own) + first * b_.extent_stride() * b_.element_bytes();
  source.type = b_.type();
  source.rows = depth_;
  source.columns = last - first;
  source.row_stride = b_.k_stride();
  source.column_stride = b_.extent_stride();
  kernels.pack_b(source, target, panel_stride_);
}

RowTask BoundGemm::row_task(int64_t index) const {
  const int64_t batch = index / blocks_, block = index % blocks_;
  const int64_t begin = rows_ * block / blocks_, end = rows_ * (block + 1) / blocks_;
  return {batch * rows_ + begin, end - begin, batch};
}

RowSource BoundGemm::rows_of_a(const Launch& launch, const RowTask& task, int64_t,
                               int worker) const {
  const GemmKernels& kernels = *base_->kernels;
  const int64_t own = a_.own_batch(task.batch);
  const int64_t first = task.row - task.batch * rows_;
  RowSource rows;
  rows.run_length = task.rows;
  if (a_.has_prologue()) {
    std::byte* target = a_scratch(launch, worker);
    a_.run_prologue(prologue_context(launch, worker), own, first, first + task.rows, target,
                    kernels.a_bytes, packed_row_stride_ / kernels.a_bytes, 1);
    rows.a = target;
    rows.row_stride = packed_row_stride_;
    return rows;
  }
  const std::byte* data =
      a_.data(launch.pointers, own) + first * a_.extent_stride() * a_.element_bytes();
  if (!packs_a_) {
    rows.a = data;
    rows.row_stride = a_.extent_stride() * a_.element_bytes();
    return rows;
  }
  PackSource source;
  source.data = data;
  source.type = a_.type();
  source.rows = task.rows;
  source.columns = depth_;
  source.row_stride = a_.extent_stride();
  source.column_stride = a_.k_stride();
  kernels.pack_a(source, a_scratch(launch, worker), packed_row_stride_);
  rows.a = a_scratch(launch, worker);
  rows.row_stride = packed_row_stride_;
  return rows;
}

const std::byte* BoundGemm::panels_of_b(const Launch& launch, const RowTask& task,
                                        int64_t slot) const {
  if (packs_b_) return b_panel(launch, slot, 0);
  return b_.data(launch.pointers, b_.own_batch(task.batch));
}

int64_t BoundGemm::slot_of_b(const RowTask& task, int64_t) const {
  return task.batch % slots_per_phase_;
}

}  // namespace warploom::cpu
