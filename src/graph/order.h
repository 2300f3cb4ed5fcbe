#pragma once

#include <vector>

#include <warploom/error.h>

#include "graph/description.h"

namespace warploom::graph {

/// The nodes' indices such that every node comes after those whose results it reads; the order of
/// creation where that allows. INVALID_VALUE, naming tensors and nodes, when a tensor is made by
/// two nodes, when a node reads a tensor that is not of this graph, and when nodes form a cycle.
Result<std::vector<size_t>> topological_order(const Description& description);

}  // namespace warploom::graph
