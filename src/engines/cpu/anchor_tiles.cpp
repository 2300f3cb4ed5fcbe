#include "engines/cpu/anchor_tiles.h"

#include <algorithm>

namespace warploom::cpu {

TaskGrid cut_rows(const BoundExpression& epilogue, int64_t rows_per_task) {
  constexpr int64_t kMostAccumulatorBytes = int64_t{16} << 20;
  const int64_t rows = std::max<int64_t>(epilogue.rows(), 1);
  TaskGrid grid;
  grid.period_rows = std::min(rows_per_task, rows);
  for (;; grid.period_rows *= 2) {
    grid.row_tasks = divide_up(rows, grid.period_rows);
    if (grid.row_tasks == 1 || epilogue.accumulator_bytes(grid) <= kMostAccumulatorBytes)
      return grid;
  }
}

}  // namespace warploom::cpu
