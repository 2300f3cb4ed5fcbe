#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engines/cpu/bound_expression.h"
#include "engines/cpu/cost_model.h"
#include "engines/cpu/cpu_engine.h"
#include "engines/cpu/kernel_epilogue.h"

namespace warploom::cpu {

// What matmul and convolution share: rows of A, wherever they lie, times packed panels of B, tile
// by tile, each tile handed to the epilogue while it is in the L1 cache.

/// A part of the sum over K: the micro-kernels are called once for each. Offsets in bytes.
struct SumStep {
  int64_t a_offset = 0;
  int64_t a_batch_stride = 0;
  int64_t b_offset = 0;  ///< within a panel
  int64_t b_batch_stride = 0;
  int64_t k_steps = 0;
  int64_t batch = 1;
};

/// Rows of A of one task. Row r of the task is row r % run_length of run r / run_length.
struct RowSource {
  const std::byte* a = nullptr;
  int64_t row_stride = 0;  ///< bytes
  int64_t run_length = 0;
  int64_t run_stride = 0;  ///< bytes
};

/// Rows that one task computes: consecutive in the result, all for one B matrix (or one per group).
struct RowTask {
  int64_t row = 0, rows = 0;
  int64_t batch = 0;
};

/// The sizes of tiles for a result of so many columns: the fewer, the more rows.
TileShape contraction_tile(const GemmKernels& kernels, int64_t columns = 64);

/// What is known before shapes are.
struct ContractionProgram {
  fusion::FusionGroup group;
  Machine machine;
  const GemmKernels* kernels = nullptr;
  CompiledExpression epilogue;
  engine::KnobSettings knobs;
};

/// Compiles the epilogue behind `kernels`' tiles.
CompiledExpression compile_epilogue(const fusion::FusionGroup& group, const GemmKernels& kernels);

/// The types of an anchor's two inputs, after their prologues.
struct ContractionTypes {
  DataType_t a = DataType_t::NOT_SET, b = DataType_t::NOT_SET;
  bool has_prologue = false;
};
ContractionTypes contraction_types(const fusion::FusionGroup& group);

/// The micro-kernels for these types; null where there are none.
const GemmKernels* choose_kernels(const fusion::FusionGroup& group, const KernelTable& table);

/// Whether there are kernels, and their sums have room: `depth` products are added up.
engine::Verdict check_contraction(const fusion::FusionGroup& group, const KernelTable& table,
                                  int64_t depth);

/// The type of the sums that the kernels leave.
DataType_t sum_type(const GemmKernels& kernels);

class BoundContraction : public CpuBoundKernel {
 public:
  double predicted_microseconds() const final;
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept final;

 protected:
  /// Pointers and memory of one launch.
  struct Launch {
    std::span<void* const> pointers;
    std::byte* workspace = nullptr;
  };

  /// Before anything else of a launch.
  virtual void prepare(const Launch& launch) const { (void)launch; }
  /// Panels [begin, end) of the B matrix in `slot` of the phase.
  virtual void pack_b(const Launch& launch, int64_t phase, int64_t slot, int64_t begin, int64_t end,
                      int worker) const = 0;
  virtual RowTask row_task(int64_t index) const = 0;
  /// Rows of A for a task and a group, copied to the thread's `a_scratch_bytes` where they need to
  /// be.
  virtual RowSource rows_of_a(const Launch& launch, const RowTask& task, int64_t group,
                              int worker) const = 0;
  /// Where panels of B lie, `panel_stride_` apart.
  virtual const std::byte* panels_of_b(const Launch& launch, const RowTask&, int64_t slot) const {
    return b_panel(launch, slot, 0);
  }
  /// The slot of B for a task and a group.
  virtual int64_t slot_of_b(const RowTask& task, int64_t group) const = 0;

  /// Rows [row, row + rows) of the task times `columns` columns of a group's B from `column` on.
  struct Product {
    RowTask task;
    RowSource a;
    int64_t group = 0, row = 0, rows = 0;
    int64_t column = 0, columns = 0;
    const std::byte* panel = nullptr;
    GemmTile tile;  ///< where the first sum goes, and what becomes of it
  };
  virtual void multiply(const Launch& launch, const Product& product) const;

  /// Sets what follows from the fields below, and lays out the workspace. Called last by bind.
  void finish_bind();

  std::byte* b_panel(const Launch& launch, int64_t slot, int64_t panel) const {
    return launch.workspace + b_offset_ + (slot * panels_ + panel) * panel_stride_;
  }
  std::byte* a_scratch(const Launch& launch, int worker) const {
    return launch.workspace + a_scratch_offset_ + worker * a_scratch_bytes_;
  }

  std::shared_ptr<const ContractionProgram> base_;
  BoundExpression epilogue_;
  TaskGrid grid_;       ///< column_tasks: of all groups together
  int64_t groups_ = 1;  ///< of columns, each with its own A and B
  int64_t group_columns_ = 0;
  int64_t columns_per_task_ = 0;
  std::vector<SumStep> steps_;  ///< never empty after finish_bind
  int64_t panels_ = 0;          ///< of one group
  int64_t panel_stride_ = 0;    ///< bytes
  bool packs_b_ = true;
  int64_t phases_ = 1, slots_per_phase_ = 1, row_tasks_per_phase_ = 1;
  int64_t a_scratch_bytes_ = 0;  ///< of one thread
  Work work_;

 private:
  void run_task(const Launch& launch, int64_t row_index, int64_t column_index, int worker) const;
  void run_tile(const Launch& launch, Product& product, TaskIndex task, int worker) const;

  TileShape tile_;
  std::optional<KernelEpilogue> kernel_epilogue_;
  int64_t b_offset_ = 0, a_scratch_offset_ = 0, tiles_offset_ = 0, tiles_stride_ = 0;
  int64_t sums_offset_ = 0;  // within a thread's tiles; where the program loads the sums
  bool has_sum_tile_ = false;
  bool is_parallel_ = false;
  int64_t tasks_per_chunk_ = 1;
};

}  // namespace warploom::cpu
