#include "harness/plan_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "harness/element.h"

namespace warploom::test {

Tolerance Tolerance::of(DataType_t type) {
  switch (type) {
    case DataType_t::DOUBLE:
      return {1e-12, 1e-13, 0};
    case DataType_t::FLOAT:
      return {1e-5, 3e-6, 1e-37};
    // One unit in the last place: the sum in float may fall on the other side of a tie.
    case DataType_t::HALF:
      return {2e-3, 5e-4, 1e-7};
    case DataType_t::BFLOAT16:
      return {1.6e-2, 4e-3, 1e-37};
    default:
      return exact();
  }
}

std::string compare(const Values& got, const Values& expected, Tolerance tolerance) {
  if (got.size() != expected.size())
    return std::to_string(got.size()) + " elements, expected " + std::to_string(expected.size());
  double greatest = 0;
  for (double value : expected)
    if (std::isfinite(value)) greatest = std::max(greatest, std::fabs(value));
  const double absolute = tolerance.absolute * greatest + tolerance.absolute_floor;
  size_t mismatches = 0;
  std::ostringstream first;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool is_same = std::isnan(expected[i]) ? std::isnan(got[i])
                         : std::isinf(expected[i])
                             ? got[i] == expected[i]
                             : std::fabs(got[i] - expected[i]) <=
                                   absolute + tolerance.relative * std::fabs(expected[i]);
    if (is_same) continue;
    if (mismatches++ == 0) {
      first.precision(9);
      first << "element " << i << " is " << got[i] << ", expected " << expected[i];
    }
  }
  if (mismatches == 0) return "";
  first << " (" << mismatches << " of " << got.size() << " differ)";
  return first.str();
}

handle_t cpu() {
  static const std::unique_ptr<Handle> handle = [] {
    std::unique_ptr<Handle> created;
    HandleOptions options;
    options.device = DeviceType::CPU;
    const error_t error = Handle::create(created, options);
    EXPECT_TRUE(error.is_good()) << error;
    return created;
  }();
  return handle.get();
}

PlanRun run_plan(const graph::Graph& graph, handle_t handle, int64_t plan,
                 const ValuesByUid& inputs, const std::vector<int64_t>& outputs,
                 const RunOptions& options) {
  PlanRun run;
  std::set<int64_t> uids;
  for (int64_t uid : graph.get_variant_pack_uids_sorted()) uids.insert(uid);
  uids.insert(outputs.begin(), outputs.end());

  std::map<int64_t, TensorMemory> memory;
  std::unordered_map<int64_t, void*> pack;
  for (int64_t uid : uids) {
    graph::Tensor_attributes tensor;
    run.error = graph.query_tensor_attributes_of_uid(uid, tensor);
    if (run.error.is_bad()) return run;
    if (tensor.get_name().empty()) tensor.set_name("tensor " + std::to_string(uid));
    const int64_t misalignment = options.misaligned_elements * element_size(tensor.get_data_type());
    auto& place = memory.try_emplace(uid, tensor, misalignment).first->second;
    if (const auto values = inputs.find(uid); values != inputs.end()) place.write(values->second);
    pack[uid] = place.pointer();
  }

  int64_t workspace_bytes = 0;
  run.error = graph.get_workspace_size_plan_at_index(plan, workspace_bytes);
  if (run.error.is_bad()) return run;
  GuardedBuffer workspace(workspace_bytes);
  run.error = graph.execute_plan_at_index(handle, pack, workspace.data(), plan);
  if (run.error.is_bad()) return run;

  for (auto& [uid, place] : memory) {
    const bool is_input = inputs.contains(uid);
    if (const std::string damage = place.damage(!is_input); !damage.empty())
      run.damage += damage + "; ";
    if (!is_input) run.outputs[uid] = place.read();
  }
  if (!workspace.guards_are_intact()) run.damage += "bytes outside the workspace were written; ";
  return run;
}

namespace {

error_t freeze(graph::Graph& graph, handle_t handle) {
  CHECK_WARPLOOM_ERROR(graph.validate());
  return graph.build_operation_graph(handle);
}

}  // namespace

error_t build_every_plan(graph::Graph& graph, handle_t handle) {
  CHECK_WARPLOOM_ERROR(freeze(graph, handle));
  CHECK_WARPLOOM_ERROR(
      graph.create_execution_plans({HeurMode_t::A, HeurMode_t::B, HeurMode_t::FALLBACK}));
  int64_t engine_count = 0;
  CHECK_WARPLOOM_ERROR(graph.get_engine_count(engine_count));
  for (int64_t engine = 0; engine < engine_count; ++engine) {
    // An engine that takes no group of this graph says so; that is not a failure here.
    const error_t ignored = graph.create_execution_plan(engine, {});
    (void)ignored;
  }
  CHECK_WARPLOOM_ERROR(graph.check_support());
  return graph.build_plans(handle, BuildPlanPolicy_t::ALL);
}

namespace {

void expect_plan(const graph::Graph& graph, int64_t plan, const std::string& name,
                 const ValuesByUid& inputs, const std::vector<Expected>& expected) {
  std::vector<int64_t> outputs;
  for (const Expected& output : expected) outputs.push_back(output.tensor->get_uid());
  for (int64_t misaligned : {0, 1}) {
    SCOPED_TRACE("plan " + name + (misaligned ? ", pointers misaligned" : ""));
    const PlanRun run = run_plan(graph, cpu(), plan, inputs, outputs, {misaligned});
    ASSERT_TRUE(run.error.is_good()) << run.error;
    EXPECT_EQ(run.damage, "");
    for (const Expected& output : expected) {
      graph::Tensor_attributes tensor;
      ASSERT_TRUE(graph.query_tensor_attributes_of_uid(output.tensor->get_uid(), tensor).is_good());
      EXPECT_EQ(compare(run.outputs.at(output.tensor->get_uid()), output.values,
                        output.tolerance.value_or(Tolerance::of(tensor.get_data_type()))),
                "")
          << "in tensor " << tensor.get_name();
    }
  }
}

ValuesByUid by_uid(const Inputs& inputs) {
  ValuesByUid values;
  for (const auto& [tensor, content] : inputs) values[tensor->get_uid()] = content;
  return values;
}

}  // namespace

void expect_every_plan(graph::Graph& graph, const Inputs& inputs,
                       const std::vector<Expected>& expected) {
  const error_t error = build_every_plan(graph, cpu());
  ASSERT_TRUE(error.is_good()) << error;
  const auto plans = graph.plans();
  ASSERT_FALSE(plans.empty());
  for (size_t i = 0; i < plans.size(); ++i) {
    EXPECT_TRUE(plans[i].is_built) << plans[i].name << ": " << plans[i].barred;
    if (plans[i].is_built)
      expect_plan(graph, static_cast<int64_t>(i), plans[i].name, by_uid(inputs), expected);
  }
}

void expect_first_plan(graph::Graph& graph, const Inputs& inputs,
                       const std::vector<Expected>& expected) {
  const error_t error = graph.build(cpu(), {HeurMode_t::A});
  ASSERT_TRUE(error.is_good()) << error;
  std::string name;
  ASSERT_TRUE(graph.get_plan_name(name).is_good());
  expect_plan(graph, 0, name, by_uid(inputs), expected);
}

}  // namespace warploom::test
