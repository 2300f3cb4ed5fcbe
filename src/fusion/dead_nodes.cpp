// First, so that nobody who reads a tensor in vain keeps it in memory or holds a fusion back.
#include "fusion/passes.h"

namespace warploom::fusion {

void drop_dead_nodes(Grouping& grouping) {
  for (StepId id = grouping.step_count() - 1; id >= 0; --id) {
    const ir::Node& node = grouping.node(id);
    bool is_live = !grouping.step(id).consumers.empty();
    for (ir::TensorId output : node.outputs)
      is_live |= output != ir::kNoTensor && grouping.is_stored(output);
    if (is_live) continue;
    grouping.stop(grouping.step(id).node, ir::kNoNode,
                  "its results are virtual and nothing reads them: it does not run");
    grouping.drop(id);
  }
}

}  // namespace warploom::fusion
