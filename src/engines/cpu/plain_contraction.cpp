#include "engines/cpu/plain_contraction.h"

#include <algorithm>
#include <cstring>

#include "engines/cpu/anchor_tiles.h"
#include "engines/cpu/contraction_gather.h"
#include "engines/cpu/cost_model.h"
#include "ops/arithmetic.h"

namespace warploom::cpu {
namespace {

constexpr TileShape kBlock{32, 64};
constexpr int64_t kDepth = 256;  // of a block of both matrices

struct PlainContractionProgram {
  fusion::FusionGroup group;
  Machine machine;
  std::vector<StoredPrologue> prologues;
  CompiledExpression epilogue;
  bool is_integer = false;
};

bool is_integer_type(DataType_t type) {
  return type == DataType_t::INT8 || type == DataType_t::UINT8 || type == DataType_t::INT32 ||
         type == DataType_t::INT64 || type == DataType_t::BOOLEAN;
}

/// Blocks of A and B and the tile of sums, of one thread.
template <class Number>
struct Blocks {
  Number a[kBlock.rows][kDepth];
  Number b[kDepth][kBlock.columns];
  Number sums[kBlock.rows][kBlock.columns];
  uint8_t is_outside[kBlock.rows][kDepth];
};

void multiply(Blocks<double>& blocks, int64_t rows, int64_t depth) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < depth; ++k) {
      if (blocks.is_outside[r][k] != 0) continue;
      const double a = blocks.a[r][k];
      for (int64_t c = 0; c < kBlock.columns; ++c) blocks.sums[r][c] += a * blocks.b[k][c];
    }
}

// Sums wrap around rather than overflow.
void multiply(Blocks<int64_t>& blocks, int64_t rows, int64_t depth) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < depth; ++k) {
      const auto a = static_cast<uint64_t>(blocks.a[r][k]);
      for (int64_t c = 0; c < kBlock.columns; ++c)
        blocks.sums[r][c] = static_cast<int64_t>(static_cast<uint64_t>(blocks.sums[r][c]) +
                                                 a * static_cast<uint64_t>(blocks.b[k][c]));
    }
}

class BoundPlainContraction final : public CpuBoundKernel {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(
      std::shared_ptr<const PlainContractionProgram> program, ir::ShapeTable shapes) {
    auto bound = std::make_unique<BoundPlainContraction>();
    bound->bind(std::move(program), shapes);
    return std::unique_ptr<CpuBoundKernel>(std::move(bound));
  }

  double predicted_microseconds() const override {
    return cpu::predicted_microseconds(work(), program_->machine.kernels->level,
                                       program_->machine.threads());
  }

  error_t launch(void*, std::span<void* const> pointers, void* workspace) const noexcept override {
    auto* memory = static_cast<std::byte*>(workspace);
    const Machine& machine = program_->machine;
    inputs_.run_prologues(machine, pointers, memory);
    start_reductions(epilogue_, memory, machine);
    const bool is_empty = gather_->rows == 0 || gather_->columns == 0;
    machine.run(is_empty ? 0 : grid_.row_tasks, is_parallel_, [&](int64_t task, int worker) {
      RunContext context{machine.kernels, pointers, memory,
                         memory + scratch_offset_ + worker * scratch_stride_};
      if (program_->is_integer)
        run_task<int64_t>(task, worker, context);
      else
        run_task<double>(task, worker, context);
    });
    finish_reductions(epilogue_, pointers, memory, machine);
    return {};
  }

 private:
  void bind(std::shared_ptr<const PlainContractionProgram> program, ir::ShapeTable shapes) {
    program_ = std::move(program);
    const Machine& machine = program_->machine;
    inputs_.bind(program_->prologues, program_->group, shapes, machine, layout_);
    gather_ = make_contraction_gather(program_->group, shapes, inputs_);
    WalkOrder order;
    const int rank = shapes[static_cast<size_t>(program_->epilogue.domain)].rank();
    for (int axis = 0; axis < rank; ++axis)
      (axis == gather_->column_axis ? order.column_axes : order.row_axes).push_back(axis);
    epilogue_.bind(program_->epilogue, program_->group, shapes, order);
    grid_ = cut_rows(epilogue_, kBlock.rows);
    epilogue_.set_grid(grid_, program_->group, layout_);
    is_parallel_ =
        cpu::predicted_microseconds(work(), machine.kernels->level, 1) >= kParallelMicroseconds;
    const int64_t threads = is_parallel_ ? machine.threads() : 1;
    scratch_stride_ = epilogue_.scratch_bytes();
    scratch_offset_ = layout_.add("tiles of each thread", scratch_stride_ * threads);
    blocks_offset_ = layout_.add("blocks of each thread", kBlockBytes * threads);
  }

  Work work() const {
    Work work;
    work.scalar_operations = static_cast<double>(gather_->rows) *
                             static_cast<double>(gather_->columns) *
                             static_cast<double>(gather_->depth);
    work.tasks = grid_.row_tasks;
    return work;
  }

  template <class Number>
  void run_task(int64_t task, int worker, const RunContext& context) const {
    auto& blocks = *reinterpret_cast<Blocks<Number>*>(context.workspace + blocks_offset_ +
                                                      worker * kBlockBytes);
    const int64_t end = std::min(gather_->rows, (task + 1) * grid_.period_rows);
    for (int64_t row = task * grid_.period_rows; row < end;) {
      // A tile lies within one batch.
      const int64_t rows = std::min<int64_t>(
          {kBlock.rows, end - row, gather_->rows_per_batch - row % gather_->rows_per_batch,
           epilogue_.rows_in_one_tile(row)});
      for (int64_t column = 0; column < gather_->columns;) {
        // ... and within one group.
        const int64_t columns =
            std::min<int64_t>({kBlock.columns, gather_->columns - column,
                               gather_->columns_per_group - column % gather_->columns_per_group});
        const Region region{row, rows, column, columns};
        compute(blocks, region, context);
        store(blocks, region, task, context);
        column += columns;
      }
      row += rows;
    }
  }

  template <class Number>
  void compute(Blocks<Number>& blocks, const Region& region, const RunContext& context) const {
    constexpr DataType_t kType =
        std::is_same_v<Number, double> ? DataType_t::DOUBLE : DataType_t::INT64;
    const ContractionGather::Memory memory{context.kernels, context.pointers, context.workspace};
    std::memset(blocks.sums, 0, sizeof blocks.sums);
    std::memset(blocks.b, 0, sizeof blocks.b);
    std::memset(blocks.is_outside, 0, sizeof blocks.is_outside);
    for (int64_t begin = 0; begin < gather_->depth; begin += kDepth) {
      const int64_t depth = std::min(kDepth, gather_->depth - begin);
      for (int64_t r = 0; r < region.rows; ++r)
        gather_->gather_a(memory, region.row + r, region.column, begin, depth, blocks.a[r], kType);
      for (int64_t c = 0; c < region.columns; ++c)
        gather_->gather_b(memory, region.row, region.column + c, begin, depth, &blocks.b[0][c],
                          kType, kBlock.columns);
      for (int64_t r = 0; r < region.rows && gather_->marks_outside(); ++r)
        gather_->mark_outside(region.row + r, begin, depth, blocks.is_outside[r]);
      multiply(blocks, region.rows, depth);
    }
  }

  template <class Number>
  void store(const Blocks<Number>& blocks, const Region& region, int64_t task,
             const RunContext& context) const {
    constexpr DataType_t kType =
        std::is_same_v<Number, double> ? DataType_t::DOUBLE : DataType_t::INT64;
    const TileProgram& program = program_->epilogue.program;
    const DataType_t type = compute_type(program.compute());
    auto* target = static_cast<std::byte*>(epilogue_.anchor(context));
    for (int64_t r = 0; r < region.rows; ++r)
      context.kernels->convert(
          blocks.sums[r], kType, 1,
          target + r * program.slot_stride() * detail::get_data_type_size(type), type, 1,
          region.columns);
    epilogue_.run_tile(context, region, {task, 0});
  }

  static constexpr int64_t kBlockBytes = sizeof(Blocks<double>);

  std::shared_ptr<const PlainContractionProgram> program_;
  PlainInputs inputs_;
  std::unique_ptr<ContractionGather> gather_;
  BoundExpression epilogue_;
  TaskGrid grid_;
  int64_t scratch_offset_ = 0, scratch_stride_ = 0, blocks_offset_ = 0;
  bool is_parallel_ = false;
};

}  // namespace

std::unique_ptr<const CpuKernel> make_plain_contraction_kernel(const fusion::FusionGroup& group,
                                                               const Machine& machine) {
  auto program = std::make_shared<PlainContractionProgram>();
  program->group = group;
  program->machine = machine;
  program->prologues = stored_prologues(group);
  program->epilogue = compile_expression(group, group.epilogue, {.shape = kBlock});
  program->is_integer =
      ops::arithmetic_of(*group.graph, group.node(group.anchor)) == ops::Arithmetic::kInteger;
  for (size_t port : {0, 1}) {
    DataType_t type = group.tensor(group.node(group.anchor).inputs[port]).data_type;
    for (const StoredPrologue& prologue : program->prologues)
      if (prologue.port() == port) type = prologue.type();
    program->is_integer &= is_integer_type(type);
  }
  return std::make_unique<SharedProgramKernel<PlainContractionProgram, BoundPlainContraction>>(
      std::move(program));
}

}  // namespace warploom::cpu
