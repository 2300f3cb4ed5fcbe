#include "engines/cpu/walk.h"

#include <algorithm>

#include "engines/cpu/accumulators.h"

namespace warploom::cpu {
namespace {

// Some 2,000 elements: a handful of values stay in the L1 cache.
constexpr TileShape kWide{8, 256};
constexpr TileShape kNarrow{32, 64};

constexpr int64_t kElementsPerTask = 16384;
constexpr int64_t kMostTasks = 128;
constexpr int64_t kMostAccumulatorBytes = int64_t{8} << 20;

}  // namespace

WalkProgram compile_walk(const fusion::FusionGroup& group, const fusion::Expression& expression,
                         ir::NodeId reduction) {
  CompileOptions options;
  options.reduction = reduction;
  options.shape = kWide;
  WalkProgram program;
  program.wide = compile_expression(group, expression, options);
  options.shape = kNarrow;
  program.narrow = compile_expression(group, expression, options);
  return program;
}

void BoundWalk::bind(const WalkProgram& program, const fusion::FusionGroup& group,
                     ir::ShapeTable shapes, const Machine& machine, WorkspaceLayout& layout) {
  const WalkOrder order = natural_order(program.wide, shapes);
  expression_.bind_widest(program.wide, group, shapes, order);
  // Where memory is stepped over, a squarer tile uses more of each cache line.
  if (expression_.columns() < kWide.columns / 2 || expression_.has_strided_columns())
    expression_.bind_widest(program.narrow, group, shapes, order);

  const int64_t elements = expression_.rows() * expression_.columns();
  int64_t tasks = std::clamp<int64_t>(elements / kElementsPerTask, 1, kMostTasks);
  cut(tasks);
  while (tasks > 1 && expression_.accumulator_bytes(grid_) > kMostAccumulatorBytes)
    cut(tasks = tasks / 2);
  expression_.set_grid(grid_, group, layout);

  for (const ProgramOperand& operand : program.wide.operands)
    if (operand.kind == ProgramOperand::Kind::kLoad || operand.kind == ProgramOperand::Kind::kStore)
      traffic_bytes_ += shapes[static_cast<size_t>(operand.tensor)].volume() *
                        detail::get_data_type_size(operand.type);
  is_parallel_ = predicted_microseconds(work(), machine.kernels->level, 1) >= kParallelMicroseconds;
  scratch_stride_ = expression_.scratch_bytes();
  scratch_offset_ =
      layout.add("tiles of each thread", scratch_stride_ * (is_parallel_ ? machine.threads() : 1));
}

// Whole elements of a reduction go to one task while that leaves enough tasks; then rows are cut
// anywhere, then columns.
void BoundWalk::cut(int64_t target_tasks) {
  const int64_t rows = std::max<int64_t>(expression_.rows(), 1);
  const int64_t columns = std::max<int64_t>(expression_.columns(), 1);
  int64_t unit = expression_.exclusive_rows();
  if (divide_up(rows, unit) < std::min<int64_t>(target_tasks, 8)) unit = 1;
  rows_per_task_ = round_up(divide_up(rows, target_tasks), unit);
  grid_.row_tasks = divide_up(rows, rows_per_task_);
  grid_.period_rows = rows_per_task_;
  columns_per_task_ = columns;
  if (grid_.row_tasks * 2 <= target_tasks)
    columns_per_task_ = round_up(divide_up(columns, target_tasks / grid_.row_tasks), 1024);
  grid_.column_tasks = divide_up(columns, columns_per_task_);
}

void BoundWalk::run(const Machine& machine, std::span<void* const> pointers,
                    std::byte* workspace) const {
  start_reductions(expression_, workspace, machine);
  const int64_t rows = expression_.rows(), columns = expression_.columns();
  if (rows == 0 || columns == 0) return;
  machine.run(grid_.row_tasks * grid_.column_tasks, is_parallel_, [&](int64_t task, int worker) {
    const TaskIndex index{task / grid_.column_tasks, task % grid_.column_tasks};
    RunContext context{machine.kernels, pointers, workspace,
                       workspace + scratch_offset_ + worker * scratch_stride_};
    Region region;
    region.row = index.row * rows_per_task_;
    region.rows = std::min(rows_per_task_, rows - region.row);
    region.column = index.column * columns_per_task_;
    region.columns = std::min(columns_per_task_, columns - region.column);
    expression_.run_region(context, region, index);
  });
}

Work BoundWalk::work() const {
  Work work;
  const double elements =
      static_cast<double>(expression_.rows()) * static_cast<double>(expression_.columns());
  const TileProgram& program = expression_.compiled().program;
  work.interpreted = elements * program.view().instruction_count;
  work.bytes = static_cast<double>(traffic_bytes_);
  work.tasks = grid_.row_tasks * grid_.column_tasks;
  return work;
}

}  // namespace warploom::cpu
