#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>

#include <warploom/device_properties.h>
#include <warploom/graph.h>

#include "graph/description.h"
#include "plan/plan_list.h"
#include "serialize/plan_container.h"

namespace warploom::graph {

/// What each step of the lifecycle left. A later box is empty until its step has run, and again
/// once the description changes.
struct Graph::State {
  Description description;
  std::shared_ptr<KernelCache> kernel_cache;
  std::shared_ptr<const DeviceProperties> device_properties;
  plan::Limits limits;

  std::optional<Device> device;
  std::shared_ptr<const ir::FrozenGraph> frozen;
  std::string identity;
  std::unique_ptr<plan::PlanList> plans;

  void forget_plans() {
    device.reset();
    frozen.reset();
    plans.reset();
  }
  /// See graph::add_node(). Plans of what was described before are dropped.
  Operation& add_node(Operation operation, const std::vector<TensorPtr>& inputs,
                      const std::vector<size_t>& optional_outputs = {});

  /// An error of this code that names the call which must come first, unless it did.
  error_t need_frozen(const char* method, error_code_t code) const;
  error_t need_plans(const char* method, error_code_t code) const;
  error_t need_candidate(const char* method, error_code_t code) const;
  error_t need_override_shapes(const char* method) const;

  error_t find_plan(const char* method, int64_t index, PlanInfo& info) const;
  error_t find_engine(const char* method, int64_t engine_id, engine::EngineInfo& info) const;
  void bar_if(const char* method, const std::function<bool(const PlanInfo&)>& is_barred);
  plan::Explanation explanation() const;

  template <class Resolve>
  error_t execute(handle_t handle, Resolve&& resolve, void* workspace,
                  int64_t workspace_bytes) const;
  template <class Resolve>
  error_t autotune(handle_t handle, Resolve&& resolve, void* workspace,
                   const AutotuneOptions& options);

  error_t freeze(const Device& device);
  /// The graph of a container with its plan built.
  error_t load(const serialize::PlanContainer& container, const Device& device,
               bool trusts_payload);
  error_t validate();
  /// The list that create_execution_plan... append to, with the engines of now.
  plan::PlanList& plan_list();
};

/// HANDLE_ERROR for a null pointer.
error_t need_handle(const char* method, handle_t handle);

/// "method: not supported by this version".
error_t not_supported(const char* method);

/// Passes an error on, after logging it.
error_t logged(error_t error);

}  // namespace warploom::graph
