#pragma once

#include "engines/cpu/bound_expression.h"
#include "engines/cpu/machine.h"

namespace warploom::cpu {

/// Before any tile of `expression` is run: its accumulators hold the neutral element.
void start_reductions(const BoundExpression& expression, std::byte* workspace,
                      const Machine& machine);

/// Elements [begin, end) of the result, in row-major order, from all slices; left in slice 0.
/// Returns where they are: double, or int64 for integer reductions.
void* combine_slices(const BoundReduction& reduction, std::byte* workspace, int64_t begin,
                     int64_t end, const KernelTable& kernels);

/// After the last tile: results are written to their tensors.
void finish_reductions(const BoundExpression& expression, std::span<void* const> pointers,
                       std::byte* workspace, const Machine& machine);

}  // namespace warploom::cpu
