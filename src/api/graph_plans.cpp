// Graph: what is known of its plans, and the filters.
#include <algorithm>

#include <fmt/format.h>

#include "api/graph_state.h"
#include "base/log.h"

namespace warploom::graph {
namespace {

using Code = error_code_t;

template <class Note>
bool has(const std::vector<Note>& notes, Note note) {
  return std::ranges::find(notes, note) != notes.end();
}

template <class Note>
bool has_any(const std::vector<Note>& notes, const std::vector<Note>& wanted) {
  return std::ranges::any_of(wanted, [&](Note note) { return has(notes, note); });
}

template <class Note>
bool has_all(const std::vector<Note>& notes, const std::vector<Note>& wanted) {
  return std::ranges::all_of(wanted, [&](Note note) { return has(notes, note); });
}

}  // namespace

int64_t Graph::get_execution_plan_count() const {
  return state().plans ? state().plans->size() : 0;
}

std::vector<PlanInfo> Graph::plans() const {
  std::vector<PlanInfo> infos;
  for (int64_t index = 0; index < get_execution_plan_count(); ++index)
    infos.push_back(state().plans->info(index, state().limits));
  return infos;
}

error_t Graph::State::find_plan(const char* method, int64_t index, PlanInfo& info) const {
  CHECK_WARPLOOM_ERROR(need_plans(method, Code::GRAPH_EXECUTION_FAILED));
  CHECK_WARPLOOM_ERROR(plans->check_index(index));
  info = plans->info(index, limits);
  return {};
}

error_t Graph::get_plan_name(std::string& name) const {
  CHECK_WARPLOOM_ERROR(state().need_candidate("get_plan_name", Code::GRAPH_EXECUTION_FAILED));
  return get_plan_name_at_index(state().plans->candidate(), name);
}

error_t Graph::get_plan_name_at_index(int64_t index, std::string& name) const {
  PlanInfo info;
  CHECK_WARPLOOM_ERROR(state().find_plan("get_plan_name_at_index", index, info));
  name = info.name;
  return {};
}

error_t Graph::get_behavior_notes(std::vector<BehaviorNote_t>& notes) const {
  CHECK_WARPLOOM_ERROR(state().need_candidate("get_behavior_notes", Code::INVALID_VALUE));
  return get_behavior_notes_for_plan_at_index(state().plans->candidate(), notes);
}

error_t Graph::get_behavior_notes_for_plan_at_index(int64_t index,
                                                    std::vector<BehaviorNote_t>& notes) const {
  PlanInfo info;
  CHECK_WARPLOOM_ERROR(state().find_plan("get_behavior_notes_for_plan_at_index", index, info));
  notes = info.behavior_notes;
  return {};
}

error_t Graph::get_numeric_notes_for_plan_at_index(int64_t index,
                                                   std::vector<NumericalNote_t>& notes) const {
  PlanInfo info;
  CHECK_WARPLOOM_ERROR(state().find_plan("get_numeric_notes_for_plan_at_index", index, info));
  notes = info.numerical_notes;
  return {};
}

error_t Graph::get_workspace_size(int64_t& bytes) const {
  CHECK_WARPLOOM_ERROR(state().need_candidate("get_workspace_size", Code::GRAPH_EXECUTION_FAILED));
  return get_workspace_size_plan_at_index(state().plans->candidate(), bytes);
}

int64_t Graph::get_workspace_size() const {
  int64_t bytes = 0;
  return logged(get_workspace_size(bytes)).is_good() ? bytes : 0;
}

error_t Graph::get_workspace_size_plan_at_index(int64_t index, int64_t& bytes) const {
  constexpr const char* kMethod = "get_workspace_size_plan_at_index";
  CHECK_WARPLOOM_ERROR(state().need_plans(kMethod, Code::GRAPH_EXECUTION_FAILED));
  CHECK_WARPLOOM_ERROR(state().plans->check_index(index));
  const plan::Plan* const plan = state().plans->plan(index);
  if (!plan)
    return {Code::GRAPH_EXECUTION_FAILED, fmt::format("{}: plan {} is not built", kMethod, index)};
  bytes = plan->workspace_bytes();
  return {};
}

int64_t Graph::get_workspace_size_plan_at_index(int64_t index) const {
  int64_t bytes = 0;
  return logged(get_workspace_size_plan_at_index(index, bytes)).is_good() ? bytes : 0;
}

int64_t Graph::get_autotune_workspace_size() const {
  int64_t most = 0;
  for (int64_t index = 0; index < get_execution_plan_count(); ++index)
    if (const plan::Plan* plan = state().plans->plan(index))
      most = std::max(most, plan->workspace_bytes());
  return most;
}

void Graph::State::bar_if(const char* method,
                          const std::function<bool(const PlanInfo&)>& is_barred) {
  if (plans)
    plans->bar_if(is_barred, fmt::format("{}: its notes are filtered", method));
  else
    base::log(fmt::format("{}: there are no plans yet, nothing is filtered", method));
}

Graph& Graph::select_numeric_notes(const std::vector<NumericalNote_t>& notes) {
  state().bar_if("select_numeric_notes",
                 [&](const PlanInfo& plan) { return !has_all(plan.numerical_notes, notes); });
  return *this;
}

Graph& Graph::select_behavior_notes(const std::vector<BehaviorNote_t>& notes) {
  state().bar_if("select_behavior_notes",
                 [&](const PlanInfo& plan) { return !has_all(plan.behavior_notes, notes); });
  return *this;
}

Graph& Graph::deselect_numeric_notes(const std::vector<NumericalNote_t>& notes) {
  state().bar_if("deselect_numeric_notes",
                 [&](const PlanInfo& plan) { return has_any(plan.numerical_notes, notes); });
  return *this;
}

Graph& Graph::deselect_behavior_notes(const std::vector<BehaviorNote_t>& notes) {
  state().bar_if("deselect_behavior_notes",
                 [&](const PlanInfo& plan) { return has_any(plan.behavior_notes, notes); });
  return *this;
}

Graph& Graph::deselect_workspace_greater_than(int64_t bytes) {
  state().limits.workspace_bytes = bytes;
  return *this;
}

// No plan of this version uses a GPU's shared memory.
Graph& Graph::deselect_shared_mem_greater_than(int64_t) {
  return *this;
}

Graph& Graph::deselect_engines(const std::vector<std::string>& names) {
  state().limits.engines = names;
  return *this;
}

}  // namespace warploom::graph
