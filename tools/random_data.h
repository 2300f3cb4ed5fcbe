#pragma once
#include <cstdint>

#include <warploom/frozen_graph.h>

#include "tools/tensor_memory.h"

namespace warploom::tools {

/// Fills an input of the graph from the seed and its uid: floating-point numbers in [-1, 1), INT8
/// and UINT8 over their range, wider integers in [-8, 8], and sizes in use (sequence lengths, the
/// overrides of a matmul) between 1 and the dimension they cut.
void fill_randomly(TensorMemory& memory, const ir::FrozenGraph& graph, uint64_t seed);

}  // namespace warploom::tools
