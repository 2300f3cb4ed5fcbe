#pragma once

#include <memory>
#include <string>

#include "plan/ranking.h"

namespace warploom::plan {

/// A selection with its names. Immutable: graphs that differ in shapes alone share it.
struct ListedPlan {
  Selection selection;
  std::string full_name;
  std::string name;
};
using ListedPlanPtr = std::shared_ptr<const ListedPlan>;

ListedPlanPtr list_plan(Selection selection);

}  // namespace warploom::plan
