#include "plan/plan_list.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/knobs.h"
#include "plan/custom_selection.h"
#include "plan/fit.h"
#include "plan/plan_name.h"
#include "plan/tuning_memory.h"

namespace warploom::plan {
namespace {

/// The notes of every choice, each once.
template <class Note>
std::vector<Note> notes_of(const Selection& selection,
                           std::vector<Note> engine::Candidate::*notes) {
  std::vector<Note> all;
  for (const OfferPtr& offer : selection.choices)
    for (Note note : offer->candidate.*notes)
      if (std::ranges::find(all, note) == all.end()) all.push_back(note);
  return all;
}

error_t no_engine(const std::string& name, const EngineList& engines) {
  std::vector<std::string> names;
  for (const auto& engine : engines) names.push_back(engine->info().name);
  return {error_code_t::INVALID_VALUE,
          fmt::format("There is no engine \"{}\"; there are: {}", name, fmt::join(names, ", "))};
}

}  // namespace

PlanList::PlanList(std::shared_ptr<const ir::FrozenGraph> graph, EngineList engines, Device device,
                   TuningMemory& tuning)
    : tuning_(tuning),
      survey_(graph, std::move(engines), std::move(device), tuning),
      target_(std::move(graph)) {}

error_t PlanList::add_mode(HeurMode_t mode) {
  if (to_string(mode) == "?")
    return {error_code_t::INVALID_VALUE,
            fmt::format("HeurMode_t has no member of value {}; accepted are A, B, FALLBACK and "
                        "OPENSOURCE",
                        static_cast<int>(mode))};
  // Its engines are part of modes A and B here.
  if (mode == HeurMode_t::OPENSOURCE) return {};
  const Takers takers{mode == HeurMode_t::FALLBACK ? Takers::Kind::kFallback : Takers::Kind::kFast};
  CacheKey key = cache_key_;
  key.mode = mode;
  if (append_cached(key)) return {};
  const auto partitions = survey_.resolve(takers, mode == HeurMode_t::B);
  CHECK_WARPLOOM_ERROR(partitions.error());
  std::vector<ListedPlanPtr> plans = ranked_as_saved(partitions.value(), key);
  append(plans);
  if (cache_) cache_->add(key, survey_.engines(), std::move(plans));
  return {};
}

error_t PlanList::add_engine(const std::string& name,
                             const std::unordered_map<KnobType_t, int64_t>& knobs) {
  const auto engine = std::ranges::find(survey_.engines(), name,
                                        [](const auto& engine) { return engine->info().name; });
  if (engine == survey_.engines().end()) return no_engine(name, survey_.engines());
  const auto settings = engine::knob_settings((*engine)->info(), knobs);
  CHECK_WARPLOOM_ERROR(settings.error());
  const auto partitions = survey_.resolve({Takers::Kind::kNamed, name});
  CHECK_WARPLOOM_ERROR(partitions.error());
  auto selection = selection_by_engine(partitions.value(), name, settings.value());
  if (!selection)
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            fmt::format("Engine {} takes no part of this graph; explain() has its reasons", name)};
  append({list_plan(*std::move(selection))});
  return {};
}

error_t PlanList::add_by_name(const std::string& name) {
  std::vector<Takers> ways{{Takers::Kind::kFast}, {Takers::Kind::kFallback}};
  for (std::string& engine : engines_in(name))
    ways.push_back({Takers::Kind::kNamed, std::move(engine)});
  std::string best;
  for (const Takers& takers : ways) {
    const auto partitions = survey_.resolve(takers);
    if (partitions.is_bad()) continue;
    if (auto selection = selection_by_name(partitions.value(), name)) {
      append_last(list_plan(*std::move(selection)));
      return {};
    }
    for (const ListedPlanPtr& plan : ranked(partitions.value())) {
      if (best.empty()) best = plan->name;
      if (plan->name != name) continue;
      append_last(plan);
      return {};
    }
  }
  return {
      error_code_t::INVALID_VALUE,
      fmt::format("This graph has no plan \"{}\"; create_execution_plans lists those it has, for "
                  "example \"{}\"",
                  name, best)};
}

std::vector<ListedPlanPtr> PlanList::ranked(const std::vector<PartitionPtr>& partitions) const {
  std::vector<ListedPlanPtr> plans;
  for (Selection& selection : rank(partitions)) plans.push_back(list_plan(std::move(selection)));
  return plans;
}

void PlanList::append(const std::vector<ListedPlanPtr>& plans, bool are_cached) {
  std::unordered_set<std::string_view> listed;
  for (const auto& entry : entries_) listed.insert(entry->listed->full_name);
  for (const ListedPlanPtr& plan : plans) {
    if (!listed.insert(plan->full_name).second) continue;
    auto entry = std::make_unique<Entry>();
    entry->listed = plan;
    if (!are_cached)
      entry->expected_workspace_bytes = expected_workspace_bytes(plan->selection, target_);
    entries_.push_back(std::move(entry));
  }
}

void PlanList::append_last(ListedPlanPtr plan) {
  const auto listed = std::ranges::find(entries_, plan->full_name,
                                        [](const auto& entry) { return entry->listed->full_name; });
  if (listed == entries_.end()) {
    append({std::move(plan)});
    return;
  }
  const int64_t index = candidate();
  const Entry* const chosen = index < 0 ? nullptr : &entry(index);
  std::rotate(listed, listed + 1, entries_.end());
  for (int64_t i = 0; chosen && i < size(); ++i)
    if (&entry(i) == chosen) candidate_.store(i, std::memory_order_release);
}

int64_t PlanList::Entry::workspace_bytes() const {
  if (const Plan* const ready = plan()) return ready->workspace_bytes();
  return expected_workspace_bytes.value_or(0);
}

void PlanList::bar_if(const std::function<bool(const graph::PlanInfo&)>& is_barred,
                      const std::string& reason) {
  for (int64_t index = 0; index < size(); ++index)
    if (is_barred(info(index, {}))) entries_[static_cast<size_t>(index)]->barred = reason;
}

std::string PlanList::bar_of(const Entry& entry, const Limits& limits) const {
  if (!entry.barred.empty()) return entry.barred;
  for (const std::string& engine : limits.engines)
    if (has_component(entry.listed->full_name, engine))
      return fmt::format("deselect_engines: \"{}\" is deselected", engine);
  const int64_t bytes = entry.workspace_bytes();
  if (bytes > limits.workspace_bytes)
    return fmt::format("deselect_workspace_greater_than: needs {} bytes, the limit is {}", bytes,
                       limits.workspace_bytes);
  const std::lock_guard lock(entry.mutex);
  return entry.failure;
}

error_t PlanList::check_support(const Limits& limits) const {
  struct Bar {
    size_t plans = 0;
    std::string first;  ///< name of the first plan that it keeps from running
  };
  std::map<std::string, Bar> bars;
  for (const auto& entry : entries_) {
    const std::string reason = bar_of(*entry, limits);
    if (reason.empty()) return {};
    Bar& bar = bars[reason];
    if (bar.plans++ == 0) bar.first = entry->listed->name;
  }
  constexpr size_t kMostReasons = 8;
  std::string text =
      fmt::format("No execution plans support the graph; {} listed", entries_.size());
  size_t shown = 0;
  for (const auto& [reason, bar] : bars) {
    if (shown++ == kMostReasons) break;
    text += bar.plans == 1
                ? fmt::format("\n  {}: {}", bar.first, reason)
                : fmt::format("\n  {} plans, {} among them: {}", bar.plans, bar.first, reason);
  }
  if (bars.size() > kMostReasons)
    text += fmt::format("\n  and {} more reasons", bars.size() - kMostReasons);
  text += "\nHeurMode_t::FALLBACK lists plans of the engines that take anything";
  return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, std::move(text)};
}

error_t PlanList::check_index(int64_t index) const {
  if (index >= 0 && index < size()) return {};
  return {error_code_t::GRAPH_EXECUTION_FAILED,
          fmt::format("Plan index {} is invalid; there are {} plans", index, size())};
}

graph::PlanInfo PlanList::info(int64_t index, const Limits& limits) const {
  const Entry& entry = this->entry(index);
  graph::PlanInfo info;
  info.name = entry.listed->name;
  info.workspace_bytes = entry.workspace_bytes();
  for (const OfferPtr& offer : entry.selection().choices)
    info.predicted_microseconds += offer->candidate.predicted_microseconds;
  info.measured_microseconds = entry.measured_microseconds;
  info.numerical_notes = notes_of(entry.selection(), &engine::Candidate::numerical_notes);
  info.behavior_notes = notes_of(entry.selection(), &engine::Candidate::behavior_notes);
  for (const ResolvedGroup& group : entry.selection().partition->groups) {
    auto& names = info.groups.emplace_back();
    for (ir::NodeId node : group.survey->group.nodes) names.push_back(graph().node(node).name);
  }
  info.is_built = entry.plan() != nullptr;
  info.barred = bar_of(entry, limits);
  return info;
}

const Plan* PlanList::plan(int64_t index) const {
  return index < 0 ? nullptr : entry(index).plan();
}

Result<BuiltPlan> PlanList::built_by(const std::string& engine, const BindTarget& target) const {
  // A list of its own, since asking engines changes a list.
  PlanList list(target.graph, survey_.engines(), device(), tuning_);
  CHECK_WARPLOOM_ERROR(list.add_engine(engine, {}));
  return build_plan(list.entry(0).selection(), device(), target);
}

Result<ShapedPlanPtr> PlanList::with_shapes(int64_t index,
                                            const graph::ShapeOverrides& overrides) const {
  const Entry& chosen = entry(index);
  const Selection& selection = chosen.selection();
  const BuiltPlan& built = *chosen.built.load(std::memory_order_acquire);
  ShapedPlanPtr shaped =
      chosen.spare.take([](const ShapedPlan& spare) { return spare.owns_graph(); },
                        [&] { return std::make_unique<ShapedPlan>(selection, survey_.graph()); });
  CHECK_WARPLOOM_ERROR(shaped->bind(selection, built.kernels, device(), overrides));
  return shaped;
}

bool PlanList::claim_verification(int64_t index) const {
  return !entry(index).is_verified.exchange(true);
}

error_t PlanList::autotune(void* stream, std::span<void* const> pack, void* workspace,
                           std::chrono::nanoseconds budget) {
  std::vector<const Plan*> built;
  std::vector<Entry*> measured;
  for (const auto& entry : entries_)
    if (const Plan* plan = entry->plan()) {
      CHECK_WARPLOOM_ERROR(plan->check_workspace(workspace));
      built.push_back(plan);
      measured.push_back(entry.get());
    }
  if (built.empty())
    return {error_code_t::GRAPH_EXECUTION_FAILED,
            "autotune: no plan is built; call build_plans(BuildPlanPolicy_t::ALL) first"};

  const std::vector<Measurement> measurements = measure(built, stream, pack, workspace, budget);
  StepTimes times(device(), survey_.graph());
  for (size_t i = 0; i < measured.size(); ++i) {
    Entry& entry = *measured[i];
    if (measurements[i].failure.is_bad()) {
      const std::lock_guard lock(entry.mutex);
      entry.failure = measurements[i].failure.err_msg;
      entry.built = nullptr;
      continue;
    }
    entry.measured_microseconds = measurements[i].microseconds;
    times.add(entry.selection(), measurements[i].step_microseconds);
  }
  tuning_.record(times.tables());
  // Measured ones first; the others keep their order.
  std::ranges::stable_sort(entries_, {}, [](const auto& entry) {
    const bool is_measured = entry->plan() != nullptr;
    return std::pair(!is_measured, is_measured ? entry->measured_microseconds : 0.0);
  });
  if (!plan(0))
    return {error_code_t::GRAPH_EXECUTION_FAILED,
            "autotune: no plan ran: " + entries_.front()->failure};
  candidate_.store(0, std::memory_order_release);
  return {};
}

}  // namespace warploom::plan
