#pragma once

#include <vector>

#include "engines/cpu/kernels/tile_program.h"

// Improvements of a tile program before slots are assigned: inputs and results are value ids, which
// are assigned once.

namespace warploom::cpu {

/// Merges MUL, ADD and RELU_FWD whose results have no other use into kAffine.
void merge_affine(std::vector<TileInstruction>& instructions, int32_t value_count);

/// Marks pointwise results that are stored at once, unrounded: they can be computed in the tensor.
void compute_in_tensors(std::vector<TileInstruction>& instructions, TileCompute compute);

}  // namespace warploom::cpu
