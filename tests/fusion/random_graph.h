#pragma once
#include <cstdint>

#include "fusion/graph_builder.h"

namespace warploom::fusion_test {

/// A graph of `node_count` operations of all kinds on square tensors and what broadcasts into them,
/// wired at random; some results are outputs, some are read by nobody.
GraphBuilder random_graph(uint32_t seed, int node_count);

}  // namespace warploom::fusion_test
