// Graph: running and tuning plans.
#include <fmt/format.h>

#include "api/engine_list.h"
#include "api/graph_state.h"
#include "plan/verify.h"

namespace warploom::graph {
namespace {

using Code = error_code_t;
using UidPack = std::unordered_map<int64_t, void*>;
using TensorPack = std::unordered_map<TensorPtr, void*>;

bool uid_of(int64_t key, int64_t& uid) {
  uid = key;
  return true;
}

bool uid_of(const TensorPtr& key, int64_t& uid) {
  if (!key || !key->has_uid()) return false;
  uid = key->get_uid();
  return true;
}

template <class Key>
auto resolver(const std::unordered_map<Key, void*>& pack) {
  return [&pack](const plan::PackTable& table, std::span<void*> pointers) {
    return table.resolve(
        pack, [](const Key& key, int64_t& uid) { return uid_of(key, uid); }, pointers);
  };
}

error_t check_handle(const char* method, handle_t handle, const plan::PlanList& plans) {
  if (!handle) return {Code::HANDLE_ERROR, fmt::format("{}: the handle is a null pointer", method)};
  if (handle->device().type != plans.device().type)
    return {Code::HANDLE_ERROR,
            fmt::format("{}: the handle's device is of another type than the one the plans are "
                        "built for ({})",
                        method, plans.device().name)};
  return {};
}

error_t check_workspace_bytes(int64_t needed, int64_t given) {
  if (given >= needed) return {};
  return {Code::INVALID_VALUE,
          fmt::format("The workspace has {} bytes; this plan needs {}", given, needed)};
}

constexpr int64_t kUnknownSize = INT64_MAX;

struct Workspace {
  void* memory = nullptr;
  int64_t bytes = kUnknownSize;
};

/// What a plan is run with. `resolve` fills in the pack's pointers.
template <class Resolve>
struct Call {
  handle_t handle;
  Resolve resolve;
  Workspace workspace;
};
template <class Resolve>
Call(handle_t, Resolve, Workspace) -> Call<Resolve>;

/// `verifies`: beside the oracle, which is built for it.
template <class Resolve>
error_t run(const plan::PlanList& plans, const plan::BindTarget& target, const plan::Plan& plan,
            const Call<Resolve>& call, bool verifies) {
  CHECK_WARPLOOM_ERROR(check_workspace_bytes(plan.workspace_bytes(), call.workspace.bytes));
  plan::PackPointers pointers(target.pack.entries().size());
  CHECK_WARPLOOM_ERROR(call.resolve(target.pack, pointers.get()));
  void* const stream = call.handle->get_stream();
  if (!verifies) return plan.execute(stream, pointers.get(), call.workspace.memory);
  auto oracle = plans.built_by(api::kOracle, target);
  CHECK_WARPLOOM_ERROR(oracle.error());
  return plan::execute_verified(target, plan, oracle.value().plan, stream, pointers.get(),
                                call.workspace.memory);
}

error_t check_built(const char* method, const plan::PlanList& plans, int64_t index) {
  CHECK_WARPLOOM_ERROR(plans.check_index(index));
  if (plans.plan(index)) return {};
  return {Code::GRAPH_EXECUTION_FAILED,
          fmt::format("{}: plan {} is not built; call build_plan_at_index({}) first", method, index,
                      index)};
}

template <class Resolve>
error_t run_at(const plan::PlanList& plans, int64_t index, const Call<Resolve>& call) {
  CHECK_WARPLOOM_ERROR(check_handle("execute", call.handle, plans));
  CHECK_WARPLOOM_ERROR(check_built("execute", plans, index));
  const bool verifies = call.handle->options().verify && plans.claim_verification(index);
  return run(plans, plans.target(), *plans.plan(index), call, verifies);
}

/// Every binding is a plan that has not run before.
template <class Resolve>
error_t run_with_shapes(const plan::PlanList& plans, int64_t index, const Call<Resolve>& call,
                        const ShapeOverrides& overrides) {
  CHECK_WARPLOOM_ERROR(check_handle("execute", call.handle, plans));
  CHECK_WARPLOOM_ERROR(check_built("execute", plans, index));
  const auto shaped = plans.with_shapes(index, overrides);
  CHECK_WARPLOOM_ERROR(shaped.error());
  return run(plans, shaped.value()->target(), shaped.value()->plan(), call,
             call.handle->options().verify);
}

}  // namespace

template <class Resolve>
error_t Graph::State::execute(handle_t handle, Resolve&& resolve, void* workspace,
                              int64_t workspace_bytes) const {
  CHECK_WARPLOOM_ERROR(need_candidate("execute", Code::GRAPH_EXECUTION_FAILED));
  return run_at(*plans, plans->candidate(), Call{handle, resolve, {workspace, workspace_bytes}});
}

template <class Resolve>
error_t Graph::State::autotune(handle_t handle, Resolve&& resolve, void* workspace,
                               const AutotuneOptions& options) {
  CHECK_WARPLOOM_ERROR(need_plans("autotune", Code::GRAPH_EXECUTION_FAILED));
  CHECK_WARPLOOM_ERROR(check_handle("autotune", handle, *plans));
  plan::PackPointers pointers(plans->target().pack.entries().size());
  CHECK_WARPLOOM_ERROR(resolve(plans->target().pack, pointers.get()));
  return logged(plans->autotune(handle->get_stream(), pointers.get(), workspace, options.budget));
}

error_t Graph::execute(handle_t handle, TensorPack& pack, void* workspace) const {
  return state().execute(handle, resolver(pack), workspace, kUnknownSize);
}

error_t Graph::execute(handle_t handle, UidPack& pack, void* workspace) const {
  return state().execute(handle, resolver(pack), workspace, kUnknownSize);
}

error_t Graph::execute(handle_t handle, UidPack& pack, void* workspace,
                       int64_t workspace_bytes) const {
  return state().execute(handle, resolver(pack), workspace, workspace_bytes);
}

error_t Graph::execute(handle_t handle, TensorPack& pack, void* workspace,
                       int64_t workspace_bytes) const {
  return state().execute(handle, resolver(pack), workspace, workspace_bytes);
}

error_t Graph::execute(handle_t handle, void** sorted_pointers, int count, void* workspace) const {
  if (count < 0 || (count > 0 && !sorted_pointers))
    return {Code::INVALID_VARIANT_PACK,
            fmt::format("execute: {} pointers at {}", count, fmt::ptr(sorted_pointers))};
  const std::span<void* const> sorted(sorted_pointers, static_cast<size_t>(count));
  auto resolve = [sorted](const plan::PackTable& table, std::span<void*> pointers) {
    return table.resolve(sorted, pointers);
  };
  return state().execute(handle, resolve, workspace, kUnknownSize);
}

error_t Graph::execute_plan_at_index(handle_t handle, TensorPack& pack, void* workspace,
                                     int64_t index) const {
  CHECK_WARPLOOM_ERROR(state().need_plans("execute_plan_at_index", Code::GRAPH_EXECUTION_FAILED));
  return run_at(*state().plans, index, Call{handle, resolver(pack), Workspace{workspace}});
}

error_t Graph::execute_plan_at_index(handle_t handle, UidPack& pack, void* workspace,
                                     int64_t index) const {
  CHECK_WARPLOOM_ERROR(state().need_plans("execute_plan_at_index", Code::GRAPH_EXECUTION_FAILED));
  return run_at(*state().plans, index, Call{handle, resolver(pack), Workspace{workspace}});
}

error_t Graph::execute(handle_t handle, UidPack& pack, void* workspace,
                       const std::vector<int64_t>& override_uids,
                       const std::vector<std::vector<int64_t>>& override_shapes,
                       const std::vector<std::vector<int64_t>>& override_strides) const {
  return execute(handle, pack, workspace, kUnknownSize, override_uids, override_shapes,
                 override_strides);
}

error_t Graph::execute(handle_t handle, UidPack& pack, void* workspace, int64_t workspace_bytes,
                       const std::vector<int64_t>& override_uids,
                       const std::vector<std::vector<int64_t>>& override_shapes,
                       const std::vector<std::vector<int64_t>>& override_strides) const {
  CHECK_WARPLOOM_ERROR(state().need_candidate("execute", Code::GRAPH_EXECUTION_FAILED));
  CHECK_WARPLOOM_ERROR(state().need_override_shapes("execute"));
  return run_with_shapes(*state().plans, state().plans->candidate(),
                         Call{handle, resolver(pack), {workspace, workspace_bytes}},
                         {override_uids, override_shapes, override_strides});
}

error_t Graph::execute_plan_at_index(
    handle_t handle, UidPack& pack, void* workspace, int64_t index,
    const std::vector<int64_t>& override_uids,
    const std::vector<std::vector<int64_t>>& override_shapes,
    const std::vector<std::vector<int64_t>>& override_strides) const {
  CHECK_WARPLOOM_ERROR(state().need_plans("execute_plan_at_index", Code::GRAPH_EXECUTION_FAILED));
  CHECK_WARPLOOM_ERROR(state().need_override_shapes("execute_plan_at_index"));
  return run_with_shapes(*state().plans, index, Call{handle, resolver(pack), Workspace{workspace}},
                         {override_uids, override_shapes, override_strides});
}

error_t Graph::get_workspace_size(int64_t& bytes, const std::vector<int64_t>& override_uids,
                                  const std::vector<std::vector<int64_t>>& override_shapes,
                                  const std::vector<std::vector<int64_t>>& override_strides) const {
  CHECK_WARPLOOM_ERROR(state().need_candidate("get_workspace_size", Code::GRAPH_EXECUTION_FAILED));
  CHECK_WARPLOOM_ERROR(state().need_override_shapes("get_workspace_size"));
  const plan::PlanList& plans = *state().plans;
  const auto shaped =
      plans.with_shapes(plans.candidate(), {override_uids, override_shapes, override_strides});
  CHECK_WARPLOOM_ERROR(shaped.error());
  bytes = shaped.value()->plan().workspace_bytes();
  return {};
}

std::vector<int64_t> Graph::get_variant_pack_uids_sorted() const {
  std::vector<int64_t> uids;
  if (!state().frozen) return uids;
  const plan::PackTable table(*state().frozen);
  for (const plan::PackEntry& entry : table.entries())
    if (entry.is_required) uids.push_back(entry.uid);
  return uids;
}

error_t Graph::autotune(handle_t handle, UidPack& pack, void* workspace, void*) {
  return state().autotune(handle, resolver(pack), workspace, {});
}

error_t Graph::autotune(handle_t handle, TensorPack& pack, void* workspace, void*) {
  return state().autotune(handle, resolver(pack), workspace, {});
}

error_t Graph::autotune(handle_t handle, UidPack& pack, void* workspace,
                        const AutotuneOptions& options) {
  return state().autotune(handle, resolver(pack), workspace, options);
}

error_t Graph::autotune(handle_t handle, TensorPack& pack, void* workspace,
                        const AutotuneOptions& options) {
  return state().autotune(handle, resolver(pack), workspace, options);
}

}  // namespace warploom::graph
