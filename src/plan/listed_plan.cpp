#include "plan/listed_plan.h"

#include "plan/plan_name.h"

namespace warploom::plan {

ListedPlanPtr list_plan(Selection selection) {
  auto listed = std::make_shared<ListedPlan>();
  listed->full_name = plan_name(*selection.partition, selection.choices);
  listed->name = shortened(listed->full_name);
  listed->selection = std::move(selection);
  return listed;
}

}  // namespace warploom::plan
