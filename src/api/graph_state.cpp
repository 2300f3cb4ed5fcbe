#include "api/graph_state.h"

#include <fmt/format.h>

#include "api/engine_list.h"
#include "api/kernel_cache_state.h"
#include "base/file_store.h"
#include "base/log.h"
#include "graph/builder.h"
#include "graph/freeze.h"
#include "graph/identity.h"
#include "graph/validate.h"
#include "plan/tuning_memory.h"
#include "serialize/graph_json.h"

namespace warploom::graph {
namespace {

// Never destroyed, for the reason that the engine registry is not.
plan::TuningMemory& tuning_memory() {
  static auto& memory = *new plan::TuningMemory(base::process_store());
  return memory;
}

error_t call_first(const char* method, error_code_t code, const char* needed) {
  return {code, fmt::format("{}: call {} first", method, needed)};
}

}  // namespace

Operation& Graph::State::add_node(Operation operation, const std::vector<TensorPtr>& inputs,
                                  const std::vector<size_t>& optional_outputs) {
  forget_plans();
  return graph::add_node(description, std::move(operation), inputs, optional_outputs);
}

error_t Graph::State::need_frozen(const char* method, error_code_t code) const {
  if (frozen) return {};
  return call_first(method, code, "build_operation_graph()");
}

error_t Graph::State::need_plans(const char* method, error_code_t code) const {
  CHECK_WARPLOOM_ERROR(need_frozen(method, code));
  if (plans) return {};
  return call_first(method, code, "create_execution_plans()");
}

error_t Graph::State::need_candidate(const char* method, error_code_t code) const {
  CHECK_WARPLOOM_ERROR(need_plans(method, code));
  if (plans->candidate() >= 0) return {};
  return call_first(method, code, "build_plans()");
}

error_t Graph::State::need_override_shapes(const char* method) const {
  if (description.is_override_shape_enabled && frozen->has_variable_shapes) return {};
  return {error_code_t::INVALID_VALUE,
          fmt::format("{} with other shapes: call set_override_shape_enabled(true) before "
                      "build_operation_graph()",
                      method)};
}

error_t Graph::State::validate() {
  if (kernel_cache && !description.is_dynamic_shape_enabled)
    return {
        error_code_t::GRAPH_NOT_SUPPORTED,
        "set_kernel_cache: found a cache without set_dynamic_shape_enabled(true), accepted both "
        "or neither"};
  if (base::is_logging()) base::log("validate " + serialize::to_json(description));
  return graph::validate(description);
}

error_t Graph::State::freeze(const Device& on_device) {
  forget_plans();
  CHECK_WARPLOOM_ERROR(validate());
  auto result = graph::freeze(description);
  CHECK_WARPLOOM_ERROR(result.error());
  frozen = std::move(result).value();
  identity = graph::identity(description);
  device = on_device;
  if (device->type == DeviceType::CPU) device->parallelism = get_num_threads();
  return {};
}

plan::PlanList& Graph::State::plan_list() {
  plan::EngineList engines = api::engine_registry().engines(device->type);
  if (plans) {
    plans->use_engines(std::move(engines));
  } else {
    plans = std::make_unique<plan::PlanList>(frozen, std::move(engines), *device, tuning_memory());
    if (kernel_cache) plans->use_cache(kernel_cache->state().plans, identity);
  }
  return *plans;
}

error_t need_handle(const char* method, handle_t handle) {
  if (handle) return {};
  return {error_code_t::HANDLE_ERROR, fmt::format("{}: the handle is a null pointer", method)};
}

error_t not_supported(const char* method) {
  return {error_code_t::GRAPH_NOT_SUPPORTED,
          fmt::format("{} is not supported by this version", method)};
}

error_t logged(error_t error) {
  if (error.is_bad() && base::is_logging())
    base::log(fmt::format("{}: {}", to_string(error.code), error.err_msg));
  return error;
}

}  // namespace warploom::graph
