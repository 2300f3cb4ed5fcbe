#pragma once
/// Movements whose result can be read in the memory of their source.
#include <warploom/frozen_graph.h>

namespace warploom::fusion {

/// Whether the result of this movement, read with its own dims and strides from some offset in its
/// input's memory, is what the operation means.
bool is_view(const ir::FrozenGraph& graph, ir::NodeId node);

/// Elements from the first of the input to the first of the result of such a movement.
int64_t view_offset(const ir::FrozenGraph& graph, ir::NodeId node, ir::ShapeTable shapes);

}  // namespace warploom::fusion
