#pragma once
#include <warploom/frozen_graph.h>

namespace warploom::tools {

/// What a graph must do at the least, whatever the plan.
struct Work {
  /// Multiplications and additions of matmuls, convolutions and attention (only what its mask
  /// leaves); 0 for a graph without them.
  double operations = 0;
  /// Of every input and output once.
  double bytes = 0;
};

Work work_of(const ir::FrozenGraph& graph);

}  // namespace warploom::tools
