#pragma once

#include <memory>

#include <warploom/kernel_cache.h>

#include "plan/plan_cache.h"

namespace warploom {

struct KernelCache::State {
  std::shared_ptr<plan::PlanCache> plans = std::make_shared<plan::PlanCache>();
};

}  // namespace warploom
