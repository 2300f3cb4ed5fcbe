#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/inplace_vector.h"
#include "engines/cpu/expression_compiler.h"
#include "engines/cpu/kernels/kernel_table.h"
#include "engines/cpu/workspace_layout.h"

namespace warploom::cpu {

/// Which axes of a domain are rows and which are columns of tiles; slowest first. Every axis is in
/// one of the two.
struct WalkOrder {
  using Axes = base::InplaceVector<int, ir::kMaxRank>;
  Axes row_axes, column_axes;
};

/// Strides over the axes of a domain, in elements.
using AxisStrides = std::array<int64_t, ir::kMaxRank>;

/// A part of a domain seen as a matrix: all row axes flattened, all column axes flattened.
struct Region {
  int64_t row = 0, rows = 0;
  int64_t column = 0, columns = 0;
};

/// What a running thread has at hand.
struct RunContext {
  const KernelTable* kernels = nullptr;
  std::span<void* const> pointers;
  std::byte* workspace = nullptr;
  std::byte* scratch = nullptr;  ///< BoundExpression::scratch_bytes(), of this thread alone
};

/// How a domain is cut into tasks: the same for any number of threads, so that sums are added in
/// the same order. A task is consecutive whole rows, and one of column_tasks parts of the columns.
struct TaskGrid {
  int64_t row_tasks = 1;
  int64_t column_tasks = 1;
  /// Row tasks repeat: so many of them are period_rows rows, then the same again. What is reduced
  /// within a period needs accumulators for the tasks of one only.
  int64_t period_tasks = 1;
  int64_t period_rows = 1;
};

/// A task's place in the grid: it decides which accumulators the task may touch.
struct TaskIndex {
  int64_t row = 0;
  int64_t column = 0;
};

/// Accumulators of one reduction: `slices` copies of the result, each touched by one task at a
/// time, added up at the end in the order of the tasks.
struct BoundReduction {
  int operand = -1;
  int pointer = -1;
  ReductionMode_t mode = ReductionMode_t::NOT_SET;
  bool integer = false;
  DataType_t type = DataType_t::NOT_SET;
  ir::Shape result;
  int64_t volume = 0;
  int64_t count = 1;                          ///< elements reduced into one
  int64_t row_slices = 1, column_slices = 1;  ///< tasks that may touch the same element
  int64_t offset = 0;                         ///< in the workspace

  int64_t slices() const { return row_slices * column_slices; }
  int64_t slice(TaskIndex task) const {
    return task.row % row_slices * column_slices + task.column % column_slices;
  }
};

/// A compiled expression on particular shapes: it knows where every tile lies in every tensor.
class BoundExpression {
 public:
  BoundExpression() = default;
  /// `compiled` must outlive this. False when the column axes are not one in memory for every
  /// operand.
  bool bind(const CompiledExpression& compiled, const fusion::FusionGroup& group,
            ir::ShapeTable shapes, const WalkOrder& order);
  /// Binds with as many of the fastest row axes moved to the columns as stay one in memory. The
  /// order must bind as it is.
  void bind_widest(const CompiledExpression& compiled, const fusion::FusionGroup& group,
                   ir::ShapeTable shapes, WalkOrder order);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  const CompiledExpression& compiled() const { return *compiled_; }

  /// Rows of which tasks should be made so that no two share an element of a reduction's result; 1
  /// where there is no such number.
  int64_t exclusive_rows() const;
  /// Some operand steps over memory along the columns.
  bool has_strided_columns() const;

  /// Decides the accumulators of reductions, and their part of the workspace.
  void set_grid(const TaskGrid& grid, const fusion::FusionGroup& group, WorkspaceLayout& layout);
  /// Bytes that set_grid() would add.
  int64_t accumulator_bytes(const TaskGrid& grid) const;
  std::span<const BoundReduction> reductions() const { return reductions_; }

  /// Tiles of another shape than the program's, with no more elements in its slots.
  void set_tile_shape(TileShape shape) { shape_ = shape; }
  TileShape tile_shape() const { return shape_; }

  /// A tensor as the walk sees it, where its rows are evenly spaced. Strides in elements.
  struct Matrix {
    int pointer = -1;
    int64_t row_stride = 0, column_stride = 0;
  };
  std::optional<Matrix> matrix(int operand) const;

  int64_t scratch_bytes() const;
  /// Where the caller puts the anchor's tile.
  void* anchor(const RunContext& context) const { return context.scratch; }
  /// A tile with an index along a row axis may not cross the end of the fastest one: rows left.
  int64_t rows_in_one_tile(int64_t row) const;

  /// One tile, no larger than tile_shape(). `tile` is the tile operand, if there is one.
  void run_tile(const RunContext& context, const Region& region, TaskIndex task,
                const TileOperand* tile = nullptr) const;
  /// A region of any size, tile by tile; for programs that have neither anchor nor tile operand.
  void run_region(const RunContext& context, const Region& region, TaskIndex task) const;

 private:
  struct Operand {
    AxisStrides row_strides = {};
    int64_t column_stride = 0;
    int64_t element_bytes = 0;
    int64_t uniform_stride = 0;
    bool is_uniform = true;  ///< rows are evenly spaced over all row axes
  };

  void bind_axes(const CompiledExpression& compiled, const fusion::FusionGroup& group,
                 ir::ShapeTable shapes, const WalkOrder& order,
                 std::span<const AxisStrides> strides);
  void bind_reduction(int operand, const fusion::FusionGroup& group, ir::ShapeTable shapes,
                      const ir::Shape& domain);
  int64_t row_slices(const BoundReduction& reduction, const TaskGrid& grid) const;
  int64_t column_slices(const BoundReduction& reduction, const TaskGrid& grid) const;
  void run_shaped(const RunContext& context, const Region& region, TaskIndex task,
                  const TileOperand* tile, int64_t folded_columns) const;

  const CompiledExpression* compiled_ = nullptr;
  std::vector<Operand> operands_;
  base::InplaceVector<int64_t, ir::kMaxRank> row_dims_;  // after merging, slowest first
  std::vector<BoundReduction> reductions_;
  std::vector<int> reduction_of_operand_;
  TileShape shape_;
  int64_t rows_ = 1, columns_ = 1;
  int uneven_operands_ = 0;
};

/// An order for a domain in which nothing is dictated: columns along the axis that most memory
/// traffic is contiguous in, rows by falling stride, and what a reduction keeps before what it
/// reduces.
WalkOrder natural_order(const CompiledExpression& compiled, ir::ShapeTable shapes);

}  // namespace warploom::cpu
