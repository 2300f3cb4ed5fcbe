#include <algorithm>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "plan/fit.h"
#include "plan/plan_list.h"

namespace warploom::plan {

error_t PlanList::build(BuildPlanPolicy_t policy, bool in_parallel, const Limits& limits) {
  if (to_string(policy) == "?")
    return {error_code_t::INVALID_VALUE,
            fmt::format("BuildPlanPolicy_t has no member of value {}; accepted are "
                        "HEURISTICS_CHOICE and ALL",
                        static_cast<int>(policy))};
  if (policy == BuildPlanPolicy_t::HEURISTICS_CHOICE && candidate() >= 0) return {};
  CHECK_WARPLOOM_ERROR(check_support(limits));
  if (policy == BuildPlanPolicy_t::ALL) {
    build_all(limits, in_parallel);
    for (int64_t index = 0; index < size(); ++index)
      if (plan(index)) {
        candidate_.store(index, std::memory_order_release);
        return {};
      }
  } else {
    for (int64_t index = 0; index < size(); ++index)
      if (build_entry(*entries_[static_cast<size_t>(index)], limits).is_good()) {
        candidate_.store(index, std::memory_order_release);
        return {};
      }
  }
  // Nothing was built, so that every plan has a reason by now.
  return check_support(limits);
}

error_t PlanList::build_at(int64_t index, const Limits& limits) {
  CHECK_WARPLOOM_ERROR(check_index(index));
  CHECK_WARPLOOM_ERROR(build_entry(*entries_[static_cast<size_t>(index)], limits));
  candidate_.store(index, std::memory_order_release);
  return {};
}

error_t PlanList::load(const std::string& full_name,
                       std::span<const std::vector<std::byte>> payloads) {
  if (const error_t error = add_by_name(full_name); error.is_bad())
    return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, error.err_msg};
  const Selection& selection = entries_.back()->selection();
  if (!payloads.empty() && payloads.size() != selection.choices.size())
    return {error_code_t::UNSUPPORTED_GRAPH_FORMAT,
            fmt::format("Plan {}: found {} saved kernels, accepted {}",
                        entries_.back()->listed->name, payloads.size(), selection.choices.size())};
  for (size_t step = 0; step < payloads.size(); ++step) {
    Offer& offer = *selection.choices[step];
    const std::lock_guard lock(offer.mutex);
    offer.payload = payloads[step];
  }
  return build_at(size() - 1, {});
}

std::vector<std::vector<std::byte>> PlanList::payloads(int64_t index) const {
  std::vector<std::vector<std::byte>> payloads;
  for (const KernelPtr& kernel : entry(index).built.load(std::memory_order_acquire)->kernels)
    payloads.push_back(kernel->save());
  return payloads;
}

error_t PlanList::build_entry(Entry& entry, const Limits& limits) {
  if (entry.plan()) return {};
  std::string bar = bar_of(entry, limits);
  if (bar.empty()) {
    auto built = build_fitting(entry);
    const std::lock_guard lock(entry.mutex);
    if (built.is_bad())
      bar = entry.failure = fmt::format("build failed: {}", built.error().err_msg);
    else if (built.value().plan.workspace_bytes() > limits.workspace_bytes)
      bar = entry.failure =
          fmt::format("deselect_workspace_greater_than: needs {} bytes, the limit is {}",
                      built.value().plan.workspace_bytes(), limits.workspace_bytes);
    else if (!entry.owner) {
      entry.owner = std::make_unique<const BuiltPlan>(std::move(built).value());
      entry.built.store(entry.owner.get(), std::memory_order_release);
    }
  }
  if (bar.empty()) return {};
  return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
          fmt::format("Plan {}: {}", entry.listed->name, bar)};
}

Result<BuiltPlan> PlanList::build_fitting(const Entry& entry) const {
  const Selection& selection = entry.selection();
  if (entry.is_cached())
    CHECK_WARPLOOM_ERROR(check_fit(selection, groups_on(selection, survey_.graph()), device()));
  return build_plan(selection, device(), target_);
}

void PlanList::build_all(const Limits& limits, bool in_parallel) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    // What failed has its reason in the entry.
    for (size_t i = next++; i < entries_.size(); i = next++)
      (void)build_entry(*entries_[i], limits);
  };
  std::vector<std::jthread> others;
  const size_t wanted = in_parallel ? std::thread::hardware_concurrency() : 1;
  try {
    for (size_t i = 1; i < std::min(wanted, entries_.size()); ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // The system gives no more threads: fewer do it.
  }
  work();
}

}  // namespace warploom::plan
