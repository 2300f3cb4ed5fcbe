// Every plan of every point of every case, against the reference engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "harness/case_file.h"

namespace warploom::test {

void PrintTo(const CasePoint& point, std::ostream* stream) {
  *stream << point.bindings;
}

namespace {

constexpr const char* kFolder = WARPLOOM_SOURCE_DIR "/tests/conformance";

std::vector<CasePoint> points(bool is_long) {
  std::vector<CasePoint> all = load_cases(kFolder);
  std::erase_if(all, [&](const CasePoint& point) { return point.is_long != is_long; });
  return all;
}

error_t read(const CasePoint& point, graph::Graph& graph) {
  CHECK_WARPLOOM_ERROR(graph.from_json(point.graph.dump()));
  return graph.validate();
}

std::vector<int64_t> outputs_of(const CasePoint& point) {
  std::vector<int64_t> uids;
  for (const CaseTensor& tensor : memory_tensors(point))
    if (tensor.is_output) uids.push_back(tensor.uid);
  return uids;
}

// The result of the reference engine, which tests/numpy checks.
void run_reference(const CasePoint& point, ValuesByUid& inputs, PlanRun& run) {
  graph::Graph graph;
  error_t error = read(point, graph);
  if (error.is_good()) error = graph.build_operation_graph(cpu());
  if (error.is_good()) error = graph.create_execution_plan("reference", {});
  if (error.is_good()) error = graph.build_plans(cpu());
  ASSERT_TRUE(error.is_good()) << error;
  inputs = make_inputs(point, graph);
  run = run_plan(graph, cpu(), 0, inputs, outputs_of(point));
  ASSERT_TRUE(run.error.is_good()) << run.error;
  EXPECT_EQ(run.damage, "") << "by the reference engine";
}

void compare_with_reference(const CasePoint& point, const graph::Graph& graph, const PlanRun& run,
                            const PlanRun& reference) {
  ASSERT_TRUE(run.error.is_good()) << run.error;
  EXPECT_EQ(run.damage, "");
  for (const CaseTensor& tensor : memory_tensors(point)) {
    if (!tensor.is_output) continue;
    EXPECT_EQ(compare(run.outputs.at(tensor.uid), reference.outputs.at(tensor.uid),
                      tolerance_for(point, graph, tensor.uid)),
              "")
        << "in tensor " << tensor.name;
  }
}

void check_groups(const CasePoint& point, const graph::PlanInfo& plan) {
  if (point.groups.is_null()) return;
  auto expected = point.groups.get<std::vector<std::vector<std::string>>>();
  auto formed = plan.groups;
  for (auto* groups : {&expected, &formed}) {
    for (auto& group : *groups) std::sort(group.begin(), group.end());
    std::sort(groups->begin(), groups->end());
  }
  EXPECT_EQ(formed, expected) << "in plan " << plan.name;
}

void check_point(const CasePoint& point) {
  SCOPED_TRACE("to repeat: build/tests/test_conformance --gtest_filter='*/" + point.name + "'   (" +
               point.bindings + ")");
  ASSERT_EQ(point.error, "");
  ValuesByUid inputs;
  PlanRun reference;
  run_reference(point, inputs, reference);
  if (testing::Test::HasFatalFailure()) return;

  graph::Graph graph;
  error_t error = read(point, graph);
  if (error.is_good()) error = build_every_plan(graph, cpu());
  ASSERT_TRUE(error.is_good()) << error;
  const std::vector<graph::PlanInfo> plans = graph.plans();
  ASSERT_FALSE(plans.empty());
  check_groups(point, plans.front());
  for (size_t i = 0; i < plans.size(); ++i) {
    for (int64_t misaligned : {0, 1}) {
      SCOPED_TRACE("plan " + plans[i].name + (misaligned ? ", pointers misaligned" : ""));
      ASSERT_TRUE(plans[i].is_built) << plans[i].barred;
      const PlanRun run =
          run_plan(graph, cpu(), static_cast<int64_t>(i), inputs, outputs_of(point), {misaligned});
      compare_with_reference(point, graph, run, reference);
    }
  }
}

// The outputs of one plan, built for and run by so many threads: that of mode A where `name` is
// empty, which then is its name.
ValuesByUid run_on_threads(const CasePoint& point, int threads, std::string& name) {
  EXPECT_TRUE(set_num_threads(threads).is_good());
  graph::Graph graph;
  error_t error = read(point, graph);
  if (error.is_good()) error = graph.validate();
  if (error.is_good()) error = graph.build_operation_graph(cpu());
  if (error.is_good())
    error = name.empty() ? graph.create_execution_plans({HeurMode_t::A})
                         : graph.create_execution_plan_by_name(name);
  if (error.is_good()) error = graph.build_plans();
  if (error.is_good()) error = graph.get_plan_name(name);
  EXPECT_TRUE(error.is_good()) << error;
  if (error.is_bad()) return {};
  const std::vector<graph::PlanInfo> plans = graph.plans();
  const auto plan = std::ranges::find(plans, name, &graph::PlanInfo::name) - plans.begin();
  const PlanRun run = run_plan(graph, cpu(), plan, make_inputs(point, graph), outputs_of(point));
  EXPECT_TRUE(run.error.is_good()) << run.error;
  return run.outputs;
}

// The last point of every case, which has its largest extents.
TEST(Conformance, BitsDoNotDependOnTheNumberOfThreads) {
  const std::vector<CasePoint> all = points(false);
  const int threads = get_num_threads();
  for (size_t i = 0; i < all.size(); ++i) {
    const auto family = [&](size_t at) {
      return all[at].name.substr(0, all[at].name.find_last_of('_'));
    };
    if (i + 1 < all.size() && family(i) == family(i + 1)) continue;
    SCOPED_TRACE(all[i].name + " (" + all[i].bindings + ")");
    std::string plan;
    const ValuesByUid alone = run_on_threads(all[i], 1, plan);
    for (const auto& [uid, values] : run_on_threads(all[i], 3, plan))
      EXPECT_EQ(compare(values, alone.at(uid), Tolerance::exact()), "") << "uid " << uid;
  }
  EXPECT_TRUE(set_num_threads(threads).is_good());
}

std::string name_of(const testing::TestParamInfo<CasePoint>& info) {
  return info.param.name;
}

class EveryPoint : public testing::TestWithParam<CasePoint> {};
TEST_P(EveryPoint, EveryPlanGivesWhatTheReferenceGives) {
  check_point(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Cases, EveryPoint, testing::ValuesIn(points(false)), name_of);

class EveryLongPoint : public testing::TestWithParam<CasePoint> {};
TEST_P(EveryLongPoint, EveryPlanGivesWhatTheReferenceGives) {
  check_point(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Cases, EveryLongPoint, testing::ValuesIn(points(true)), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryLongPoint);

}  // namespace
}  // namespace warploom::test
