#include "plan/plan_cache.h"

#include "graph/identity.h"

namespace warploom::plan {
namespace {

/// Shapes so different that one list of plans does not serve them all are few.
constexpr size_t kMostLists = 8;

SavedPlan saved_plan(const ListedPlan& listed) {
  SavedPlan saved{listed.full_name, {}};
  bool has_bytes = false;
  for (const OfferPtr& offer : listed.selection.choices) {
    const std::lock_guard lock(offer->mutex);
    auto& bytes = saved.kernels.emplace_back();
    if (offer->kernel && offer->kernel->is_good()) bytes = offer->kernel->value()->save();
    has_bytes |= !bytes.empty();
  }
  if (!has_bytes) saved.kernels.clear();
  return saved;
}

}  // namespace

SavedKey saved_key(const CacheKey& key) {
  return {graph::key(key.graph), key.mode, key.device};
}

std::vector<std::shared_ptr<const PlanCache::Plans>> PlanCache::find(
    const CacheKey& key, const EngineList& engines) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Plans>> found;
  if (const auto place = lists_.find(key); place != lists_.end())
    for (const List& list : place->second)
      if (list.engines == engines) found.push_back(list.plans);
  return found;
}

void PlanCache::add(const CacheKey& key, const EngineList& engines, Plans plans) {
  auto list = std::make_shared<const Plans>(std::move(plans));
  const std::lock_guard lock(mutex_);
  std::vector<List>& lists = lists_[key];
  if (lists.size() == kMostLists) lists.erase(lists.begin());
  lists.push_back({engines, std::move(list)});
}

std::vector<SavedPlan> PlanCache::find_saved(const SavedKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto place = saved_.find(key);
  return place == saved_.end() ? std::vector<SavedPlan>() : place->second;
}

void PlanCache::add_saved(SavedKey key, std::vector<SavedPlan> plans) {
  const std::lock_guard lock(mutex_);
  saved_.insert_or_assign(std::move(key), std::move(plans));
}

std::map<SavedKey, std::vector<SavedPlan>> PlanCache::save() const {
  const std::lock_guard lock(mutex_);
  auto all = saved_;
  for (const auto& [key, lists] : lists_) {
    std::vector<SavedPlan>& plans = all[saved_key(key)];
    plans.clear();
    for (const ListedPlanPtr& listed : *lists.back().plans) plans.push_back(saved_plan(*listed));
  }
  return all;
}

bool PlanCache::is_empty() const {
  const std::lock_guard lock(mutex_);
  return lists_.empty() && saved_.empty();
}

}  // namespace warploom::plan
