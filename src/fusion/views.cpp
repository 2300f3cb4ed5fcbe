// Before any join: a movement that only looks at memory in another way is no work, but its source
// must be in memory, and the groups on its two sides must stay apart.
#include "fusion/view.h"

#include "fusion/passes.h"
#include "fusion/reasons.h"

namespace warploom::fusion {

void mark_views(Grouping& grouping) {
  for (StepId id = 0; id < grouping.step_count(); ++id) {
    const Step& step = grouping.step(id);
    if (step.group == kNoId || grouping.group_of(id).kind != AnchorKind::kMovement) continue;
    const ir::TensorId result = grouping.result(id);
    if (!grouping.is_stored(result) && is_view(grouping.graph(), step.node))
      grouping.group(step.group).is_view = true;
  }
}

}  // namespace warploom::fusion
