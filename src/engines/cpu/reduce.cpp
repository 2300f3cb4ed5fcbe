#include "engines/cpu/reduce.h"

#include <algorithm>

#include "engines/cpu/accumulators.h"
#include "engines/cpu/group_checks.h"
#include "engines/cpu/walk.h"

namespace warploom::cpu {
namespace {

constexpr TileShape kEpilogueTile{8, 256};
constexpr int64_t kParallelResults = 16384;

struct ReduceProgram {
  fusion::FusionGroup group;
  Machine machine;
  WalkProgram walk;             // the prologue, ending in the reduction
  CompiledExpression epilogue;  // over the result
};

class BoundReduce final : public CpuBoundKernel {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(std::shared_ptr<const ReduceProgram> program,
                                                      ir::ShapeTable shapes) {
    auto bound = std::make_unique<BoundReduce>();
    bound->bind(std::move(program), shapes);
    return std::unique_ptr<CpuBoundKernel>(std::move(bound));
  }

  double predicted_microseconds() const override {
    return cpu::predicted_microseconds(walk_.work(), program_->machine.kernels->level,
                                       program_->machine.threads());
  }

  error_t launch(void*, std::span<void* const> pointers, void* workspace) const noexcept override {
    auto* memory = static_cast<std::byte*>(workspace);
    walk_.run(program_->machine, pointers, memory);
    start_reductions(epilogue_, memory, program_->machine);
    finish_anchor(pointers, memory);
    finish_reductions(epilogue_, pointers, memory, program_->machine);
    return {};
  }

 private:
  void bind(std::shared_ptr<const ReduceProgram> program, ir::ShapeTable shapes) {
    program_ = std::move(program);
    const Machine& machine = program_->machine;
    walk_.bind(program_->walk, program_->group, shapes, machine, layout_);

    // Rows and columns in the order of the accumulators: row-major.
    const int rank = shapes[static_cast<size_t>(program_->epilogue.domain)].rank();
    WalkOrder order;
    for (int axis = 0; axis + 1 < rank; ++axis) order.row_axes.push_back(axis);
    if (rank > 0) order.column_axes.push_back(rank - 1);
    epilogue_.bind_widest(program_->epilogue, program_->group, shapes, order);
    epilogue_.set_grid({}, program_->group, layout_);
    // One task where the epilogue reduces in turn: its accumulators have one slice.
    is_parallel_ = epilogue_.reductions().empty() &&
                   epilogue_.rows() * epilogue_.columns() >= kParallelResults;
    scratch_stride_ = epilogue_.scratch_bytes();
    scratch_offset_ = layout_.add("tiles of the results",
                                  scratch_stride_ * (is_parallel_ ? machine.threads() : 1));
  }

  // The anchor is the reduction's result, tile by tile out of the accumulators.
  void finish_anchor(std::span<void* const> pointers, std::byte* workspace) const {
    const Machine& machine = program_->machine;
    const BoundReduction& reduction = walk_.expression().reductions().front();
    const int64_t rows = epilogue_.rows(), columns = epilogue_.columns();
    if (rows == 0 || columns == 0) return;
    const int64_t tiles_across = divide_up(columns, kEpilogueTile.columns);
    int64_t row_step = kEpilogueTile.rows;
    if (epilogue_.rows_in_one_tile(0) != rows) row_step = 1;
    machine.run(
        divide_up(rows, row_step) * tiles_across, is_parallel_, [&](int64_t tile, int worker) {
          Region region;
          region.row = tile / tiles_across * row_step;
          region.rows = std::min(row_step, rows - region.row);
          region.column = tile % tiles_across * kEpilogueTile.columns;
          region.columns = std::min<int64_t>(kEpilogueTile.columns, columns - region.column);
          RunContext context{machine.kernels, pointers, workspace,
                             workspace + scratch_offset_ + worker * scratch_stride_};
          fill_anchor(reduction, context, region);
          epilogue_.run_tile(context, region, {});
        });
  }

  void fill_anchor(const BoundReduction& reduction, const RunContext& context,
                   const Region& region) const {
    const TileProgram& program = program_->epilogue.program;
    const DataType_t type = compute_type(program.compute());
    const int64_t row_bytes = program.slot_stride() * detail::get_data_type_size(type);
    auto* target = static_cast<std::byte*>(epilogue_.anchor(context));
    for (int64_t row = 0; row < region.rows; ++row, target += row_bytes) {
      int64_t begin = (region.row + row) * epilogue_.columns() + region.column;
      const void* values = combine_slices(reduction, context.workspace, begin,
                                          begin + region.columns, *context.kernels);
      context.kernels->convert(values, reduction.integer ? DataType_t::INT64 : DataType_t::DOUBLE,
                               1, target, type, 1, region.columns);
    }
  }

  std::shared_ptr<const ReduceProgram> program_;
  BoundWalk walk_;
  BoundExpression epilogue_;
  int64_t scratch_offset_ = 0, scratch_stride_ = 0;
  bool is_parallel_ = false;
};

}  // namespace

std::unique_ptr<const CpuKernel> make_reduce_kernel(const fusion::FusionGroup& group,
                                                    const Machine& machine) {
  auto program = std::make_shared<ReduceProgram>();
  program->group = group;
  program->machine = machine;
  const fusion::Expression input = group.prologues.empty()
                                       ? load_expression(group.node(group.anchor).inputs[0])
                                       : group.prologues.front().expression;
  program->walk = compile_walk(group, input, group.anchor);
  program->epilogue = compile_expression(group, group.epilogue, {.shape = kEpilogueTile});
  return std::make_unique<SharedProgramKernel<ReduceProgram, BoundReduce>>(std::move(program));
}

engine::EngineInfo ReduceEngine::info() const {
  return {.name = "cpu.reduce", .knobs = {}};
}

engine::Verdict ReduceEngine::supports(const fusion::FusionGroup& group, const Device&) const {
  auto verdict = check_anchor(group, fusion::AnchorKind::kReduction, "one reduction");
  return verdict.is_supported ? check_group(group) : verdict;
}

Result<std::unique_ptr<const CpuKernel>> ReduceEngine::make_kernel(const fusion::FusionGroup& group,
                                                                   const engine::KnobSettings&,
                                                                   const Machine& machine) const {
  return make_reduce_kernel(group, machine);
}

}  // namespace warploom::cpu
