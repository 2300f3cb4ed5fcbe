// Graph: from a description to built plans.
#include <fmt/format.h>

#include "api/engine_list.h"
#include "api/graph_state.h"
#include "base/log.h"

namespace warploom::graph {
namespace {

using Code = error_code_t;
constexpr Code kPlanCreation = Code::GRAPH_EXECUTION_PLAN_CREATION_FAILED;

}  // namespace

error_t Graph::validate() {
  return logged(state().validate());
}

error_t Graph::build_operation_graph(handle_t handle) {
  CHECK_WARPLOOM_ERROR(need_handle("build_operation_graph", handle));
  return logged(state().freeze(handle->device()));
}

error_t Graph::build_operation_graph() {
  if (const auto properties = state().device_properties) {
    CHECK_WARPLOOM_ERROR(logged(properties->status()));
    return logged(state().freeze(*properties->device()));
  }
  const auto handle = create_handle();
  return build_operation_graph(handle.get());
}

error_t Graph::create_execution_plans(const std::vector<HeurMode_t>& modes) {
  constexpr const char* kMethod = "create_execution_plans";
  CHECK_WARPLOOM_ERROR(state().need_frozen(kMethod, Code::HEURISTIC_QUERY_FAILED));
  if (modes.empty())
    return {Code::HEURISTIC_QUERY_FAILED, "create_execution_plans: no mode was given"};
  if (state().frozen->nodes.empty())
    return {Code::HEURISTIC_QUERY_FAILED, "create_execution_plans: the graph has no operations"};
  plan::PlanList& plans = state().plan_list();
  for (HeurMode_t mode : modes) CHECK_WARPLOOM_ERROR(logged(plans.add_mode(mode)));
  if (base::is_logging())
    base::log(fmt::format("create_execution_plans: {} plans are listed", plans.size()));
  return {};
}

error_t Graph::create_execution_plan(int64_t engine_id,
                                     const std::unordered_map<KnobType_t, int64_t>& knobs) {
  std::string name;
  CHECK_WARPLOOM_ERROR(get_engine_name(engine_id, name));
  return create_execution_plan(name, knobs);
}

error_t Graph::create_execution_plan(const std::string& engine,
                                     const std::unordered_map<KnobType_t, int64_t>& knobs) {
  CHECK_WARPLOOM_ERROR(state().need_frozen("create_execution_plan", Code::HEURISTIC_QUERY_FAILED));
  return logged(state().plan_list().add_engine(engine, knobs));
}

error_t Graph::create_execution_plan_by_name(const std::string& plan_name) {
  CHECK_WARPLOOM_ERROR(
      state().need_frozen("create_execution_plan_by_name", Code::HEURISTIC_QUERY_FAILED));
  return logged(state().plan_list().add_by_name(plan_name));
}

error_t Graph::get_engine_count(int64_t& count) const {
  CHECK_WARPLOOM_ERROR(state().need_frozen("get_engine_count", Code::HEURISTIC_QUERY_FAILED));
  count = static_cast<int64_t>(api::engine_registry().engines(state().device->type).size());
  return {};
}

error_t Graph::State::find_engine(const char* method, int64_t engine_id,
                                  engine::EngineInfo& info) const {
  CHECK_WARPLOOM_ERROR(need_frozen(method, Code::HEURISTIC_QUERY_FAILED));
  const auto engines = api::engine_registry().engines(device->type);
  if (engine_id < 0 || static_cast<size_t>(engine_id) >= engines.size())
    return {Code::INVALID_VALUE, fmt::format("{}: engine id: found {}, accepted 0 to {}", method,
                                             engine_id, engines.size() - 1)};
  info = engines[static_cast<size_t>(engine_id)]->info();
  return {};
}

error_t Graph::get_engine_name(int64_t engine_id, std::string& name) const {
  engine::EngineInfo info;
  CHECK_WARPLOOM_ERROR(state().find_engine("get_engine_name", engine_id, info));
  name = info.name;
  return {};
}

error_t Graph::get_knobs_for_engine(int64_t engine_id, std::vector<Knob>& knobs) const {
  engine::EngineInfo info;
  CHECK_WARPLOOM_ERROR(state().find_engine("get_knobs_for_engine", engine_id, info));
  knobs.insert(knobs.end(), info.knobs.begin(), info.knobs.end());
  return {};
}

error_t Graph::check_support() {
  CHECK_WARPLOOM_ERROR(state().need_plans("check_support", kPlanCreation));
  return logged(state().plans->check_support(state().limits));
}

error_t Graph::check_support(handle_t) {
  return check_support();
}

error_t Graph::build_plans(BuildPlanPolicy_t policy, bool do_multithreaded_builds) {
  CHECK_WARPLOOM_ERROR(state().need_plans("build_plans", kPlanCreation));
  const plan::PlanList& plans = *state().plans;
  CHECK_WARPLOOM_ERROR(
      logged(state().plans->build(policy, do_multithreaded_builds, state().limits)));
  if (base::is_logging())
    base::log("build_plans: the candidate is " + plans.info(plans.candidate(), {}).name);
  return {};
}

error_t Graph::build_plans(handle_t, BuildPlanPolicy_t policy, bool do_multithreaded_builds) {
  return build_plans(policy, do_multithreaded_builds);
}

error_t Graph::build_plan_at_index(int64_t index) {
  CHECK_WARPLOOM_ERROR(state().need_plans("build_plan_at_index", kPlanCreation));
  return logged(state().plans->build_at(index, state().limits));
}

error_t Graph::build_plan_at_index(handle_t, int64_t index) {
  return build_plan_at_index(index);
}

error_t Graph::build(handle_t handle, const std::vector<HeurMode_t>& modes,
                     BuildPlanPolicy_t policy, bool do_multithreaded_builds) {
  CHECK_WARPLOOM_ERROR(build_operation_graph(handle));
  CHECK_WARPLOOM_ERROR(create_execution_plans(modes));
  CHECK_WARPLOOM_ERROR(check_support());
  return build_plans(policy, do_multithreaded_builds);
}

error_t Graph::build(const std::vector<HeurMode_t>& modes, BuildPlanPolicy_t policy,
                     bool do_multithreaded_builds) {
  CHECK_WARPLOOM_ERROR(build_operation_graph());
  CHECK_WARPLOOM_ERROR(create_execution_plans(modes));
  CHECK_WARPLOOM_ERROR(check_support());
  return build_plans(policy, do_multithreaded_builds);
}

}  // namespace warploom::graph
