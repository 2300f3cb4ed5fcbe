// Graph: as JSON, and with its plan as a binary container.
#include <warploom/version.h>

#include "api/graph_state.h"
#include "base/log.h"
#include "graph/identity.h"
#include "serialize/graph_json.h"

namespace warploom::graph {

std::string Graph::to_json() const {
  return serialize::to_json(state().description);
}

error_t Graph::from_json(const std::string& text) {
  auto description = serialize::from_json(text);
  CHECK_WARPLOOM_ERROR(logged(description.error()));
  state_ = std::make_unique<State>();
  state_->description = std::move(description).value();
  return {};
}

error_t Graph::serialize(std::vector<uint8_t>& data) const {
  CHECK_WARPLOOM_ERROR(state().need_candidate("serialize", error_code_t::GRAPH_EXECUTION_FAILED));
  // The tensors are the user's objects.
  if (graph::identity(state().description) != state().identity)
    return {error_code_t::INVALID_VALUE,
            "serialize: the graph's tensors are not those that its plans were made for; build it "
            "again"};
  const plan::PlanList& plans = *state().plans;
  serialize::PlanContainer container;
  container.graph_json = to_json();
  container.library_version = version();
  container.device_type = plans.device().type;
  container.architecture = plans.device().architecture;
  container.plan_name = plans.full_name(plans.candidate());
  container.payloads = plans.payloads(plans.candidate());
  data = serialize::write_plan_container(container);
  return {};
}

error_t Graph::State::load(const serialize::PlanContainer& container, const Device& on_device,
                           bool trusts_payload) {
  CHECK_WARPLOOM_ERROR(serialize::check_suitable(container, on_device));
  auto read = serialize::from_json(container.graph_json);
  CHECK_WARPLOOM_ERROR(read.error());
  description = std::move(read).value();
  CHECK_WARPLOOM_ERROR(freeze(on_device));
  using Payloads = decltype(container.payloads);
  return plan_list().load(container.plan_name, trusts_payload ? container.payloads : Payloads());
}

error_t Graph::deserialize(handle_t handle, const std::vector<uint8_t>& data) {
  return deserialize(handle, data, {});
}

error_t Graph::deserialize(handle_t handle, const std::vector<uint8_t>& data,
                           const DeserializeOptions& options) {
  CHECK_WARPLOOM_ERROR(need_handle("deserialize", handle));
  serialize::PlanContainer container;
  error_t error = serialize::read_plan_container(data, container);
  Graph loaded;
  if (error.is_good())
    error = loaded.state().load(container, handle->device(), options.trust_payload);
  if (error.is_bad() && options.rebuild_if_unsuitable && !container.graph_json.empty()) {
    base::log("deserialize plans the graph anew: " + error.err_msg);
    error = loaded.from_json(container.graph_json);
    if (error.is_good()) error = loaded.build(handle, {HeurMode_t::A});
  }
  CHECK_WARPLOOM_ERROR(logged(error));
  *this = std::move(loaded);
  return {};
}

error_t Graph::warmup(handle_t handle) {
  CHECK_WARPLOOM_ERROR(need_handle("warmup", handle));
  return state().need_candidate("warmup", error_code_t::GRAPH_EXECUTION_FAILED);
}

}  // namespace warploom::graph
