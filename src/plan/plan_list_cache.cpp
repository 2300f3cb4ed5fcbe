#include <algorithm>

#include "plan/custom_selection.h"
#include "plan/fit.h"
#include "plan/plan_list.h"
#include "plan/store_key.h"

namespace warploom::plan {

void PlanList::use_cache(std::shared_ptr<PlanCache> cache, std::string identity) {
  cache_ = std::move(cache);
  cache_key_.graph = std::move(identity);
  cache_key_.device = library_and_device(device());
}

bool PlanList::append_cached(const CacheKey& key) {
  if (!cache_) return false;
  for (const auto& plans : cache_->find(key, survey_.engines())) {
    const Selection& first = plans->front()->selection;
    if (check_fit(first, groups_on(first, survey_.graph()), device()).is_bad()) continue;
    append(*plans, true);
    return true;
  }
  return false;
}

/// In the order of another process, with the kernels that it saved.
std::vector<ListedPlanPtr> PlanList::ranked_as_saved(const std::vector<PartitionPtr>& partitions,
                                                     const CacheKey& key) const {
  std::vector<ListedPlanPtr> plans;
  if (cache_)
    for (const SavedPlan& saved : cache_->find_saved(saved_key(key))) {
      auto selection = selection_by_name(partitions, saved.name);
      if (!selection) continue;
      for (size_t i = 0; i < std::min(selection->choices.size(), saved.kernels.size()); ++i) {
        Offer& offer = *selection->choices[i];
        const std::lock_guard lock(offer.mutex);
        offer.payload = saved.kernels[i];
      }
      plans.push_back(list_plan(*std::move(selection)));
    }
  return plans.empty() ? ranked(partitions) : plans;
}

}  // namespace warploom::plan
