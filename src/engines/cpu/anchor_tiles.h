#pragma once

#include "engines/cpu/accumulators.h"
#include "engines/cpu/bound_expression.h"
#include "engines/cpu/machine.h"

namespace warploom::cpu {

/// Row tasks of an engine that produces anchor tiles: of `rows_per_task` rows, or of more where the
/// accumulators of reductions would grow large. Independent of the number of threads. The grid's
/// period is one task.
TaskGrid cut_rows(const BoundExpression& epilogue, int64_t rows_per_task);

}  // namespace warploom::cpu
