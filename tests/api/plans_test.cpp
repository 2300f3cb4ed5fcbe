#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "api/scripted_engine.h"
#include "harness/plan_runner.h"

namespace warploom::graph {
namespace {

using test::cpu;
using test::ScriptedGraph;

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const PlanInfo& plan : graph.plans()) names.push_back(plan.name);
  return names;
}

/// A scripted graph with its plans listed.
struct Listed : ScriptedGraph {
  explicit Listed(const std::string& name = "scripted") : ScriptedGraph(name) {
    EXPECT_TRUE(graph.build_operation_graph(cpu()).is_good());
    const error_t error = graph.create_execution_plans({HeurMode_t::A});
    EXPECT_TRUE(error.is_good()) << error;
  }
  /// The knob value that the kernel which ran was built with.
  float run(int64_t index = -1) {
    std::vector<float> in(4, 1), out(4, -1);
    std::vector<char> workspace(static_cast<size_t>(graph.get_autotune_workspace_size()));
    std::unordered_map<int64_t, void*> pack{{x->get_uid(), in.data()}, {y->get_uid(), out.data()}};
    const error_t error = index < 0
                              ? graph.execute(cpu(), pack, workspace.data())
                              : graph.execute_plan_at_index(cpu(), pack, workspace.data(), index);
    EXPECT_TRUE(error.is_good()) << error;
    return out[0];
  }
};

TEST(Plans, AreNamedByEngineAndKnobsBestFirst) {
  Listed listed;
  const auto names = names_of(listed.graph);
  ASSERT_GE(names.size(), 3u);
  EXPECT_EQ(names[0], "test.scripted:tile_m=1");
  EXPECT_EQ(names[1], "test.scripted:tile_m=2");
  EXPECT_EQ(names[2], "test.scripted:tile_m=3");
  EXPECT_EQ(names_of(Listed().graph), names) << "names are the same in every build";
  const PlanInfo first = listed.graph.plans()[0];
  EXPECT_EQ(first.groups, (std::vector<std::vector<std::string>>{{"relu"}}));
  EXPECT_FALSE(first.is_built);
  EXPECT_EQ(first.barred, "");
  EXPECT_GT(first.predicted_microseconds, 0);
}

TEST(Plans, AreListedOnceForSeveralModes) {
  Listed listed;
  const auto names = names_of(listed.graph);
  ASSERT_TRUE(listed.graph.create_execution_plans({HeurMode_t::B, HeurMode_t::A}).is_good());
  EXPECT_EQ(names_of(listed.graph), names);
}

TEST(Plans, ChoiceBuildsTheFirstAndAllBuildsEvery) {
  Listed listed;
  ASSERT_TRUE(listed.graph.build_plans().is_good());
  EXPECT_TRUE(listed.graph.plans()[0].is_built);
  EXPECT_FALSE(listed.graph.plans()[1].is_built);
  EXPECT_EQ(listed.run(), 1);
  for (const bool in_parallel : {false, true}) {
    Listed all;
    ASSERT_TRUE(all.graph.build_plans(BuildPlanPolicy_t::ALL, in_parallel).is_good());
    for (const PlanInfo& plan : all.graph.plans()) EXPECT_TRUE(plan.is_built) << plan.name;
    EXPECT_EQ(all.run(), 1) << "the candidate is the best ranked";
    for (int64_t index = 0; index < 3; ++index)
      EXPECT_EQ(all.run(index), static_cast<float>(index + 1));
  }
}

// B138
TEST(Plans, WorkspaceLimitChoosesASmallerPlanThatThenRuns) {
  Listed listed;
  // Bars the smallest by its note and the largest by the limit.
  listed.graph.deselect_numeric_notes({NumericalNote_t::NONDETERMINISTIC})
      .deselect_workspace_greater_than(2200);
  ASSERT_TRUE(listed.graph.check_support().is_good());
  ASSERT_TRUE(listed.graph.build_plans().is_good());
  std::string name;
  ASSERT_TRUE(listed.graph.get_plan_name(name).is_good());
  EXPECT_EQ(name, "test.scripted:tile_m=2");
  EXPECT_LE(listed.graph.get_workspace_size(), 2200);
  EXPECT_EQ(listed.run(), 2);
  EXPECT_EQ(listed.graph.plans()[2].barred.find("deselect_workspace_greater_than"), 0u);
  const error_t error = listed.graph.build_plan_at_index(2);
  EXPECT_EQ(error.code, error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
  EXPECT_NE(error.err_msg.find("2200"), std::string::npos) << error;
}

// B138
TEST(Plans, OneThatFailsToBuildLeavesTheOthers) {
  Listed listed("scripted failing");
  ASSERT_TRUE(listed.graph.build_plans(BuildPlanPolicy_t::ALL).is_good());
  const auto plans = listed.graph.plans();
  EXPECT_TRUE(plans[0].is_built);
  EXPECT_FALSE(plans[1].is_built);
  EXPECT_NE(plans[1].barred.find("scripted failure"), std::string::npos) << plans[1].barred;
  EXPECT_TRUE(plans[2].is_built);
  EXPECT_EQ(listed.run(2), 3);
  EXPECT_TRUE(listed.graph.build_plan_at_index(1).is_bad());
  EXPECT_EQ(listed.run(), 1) << "a failed build leaves the candidate";
}

// B138
TEST(Plans, IndexOutOfRangeIsAnError) {
  Listed listed;
  ASSERT_TRUE(listed.graph.build_plans().is_good());
  const int64_t count = listed.graph.get_execution_plan_count();
  std::unordered_map<int64_t, void*> pack;
  std::string name;
  int64_t bytes = 0;
  for (const int64_t index : {int64_t{-1}, count, INT64_MAX}) {
    for (const error_t& error : {listed.graph.build_plan_at_index(index),
                                 listed.graph.execute_plan_at_index(cpu(), pack, nullptr, index),
                                 listed.graph.get_plan_name_at_index(index, name),
                                 listed.graph.get_workspace_size_plan_at_index(index, bytes)}) {
      EXPECT_EQ(error.code, error_code_t::GRAPH_EXECUTION_FAILED);
      EXPECT_NE(error.err_msg.find("Plan index " + std::to_string(index) + " is invalid"),
                std::string::npos)
          << error;
    }
  }
}

TEST(Plans, ThatAreNotBuiltDoNotRun) {
  Listed listed;
  ASSERT_TRUE(listed.graph.build_plans().is_good());
  std::unordered_map<int64_t, void*> pack;
  EXPECT_EQ(listed.graph.execute_plan_at_index(cpu(), pack, nullptr, 1).code,
            error_code_t::GRAPH_EXECUTION_FAILED);
  int64_t bytes = 0;
  EXPECT_EQ(listed.graph.get_workspace_size_plan_at_index(1, bytes).code,
            error_code_t::GRAPH_EXECUTION_FAILED);
}

TEST(Plans, BuildAtIndexMakesTheCandidate) {
  Listed listed;
  ASSERT_TRUE(listed.graph.build_plan_at_index(2).is_good());
  EXPECT_EQ(listed.run(), 3);
  ASSERT_TRUE(listed.graph.build_plan_at_index(1).is_good());
  EXPECT_EQ(listed.run(), 2);
}

TEST(Plans, AreBuiltFromSeveralThreadsAtOnce) {
  Listed listed;
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int64_t index = 0; index < 3; ++index)
    threads.emplace_back([&, index] {
      if (listed.graph.build_plan_at_index(index).is_bad()) ++failures;
      std::vector<float> in(4, 1), out(4, -1);
      std::vector<char> workspace(
          static_cast<size_t>(listed.graph.get_workspace_size_plan_at_index(index)));
      std::unordered_map<int64_t, void*> pack{{listed.x->get_uid(), in.data()},
                                              {listed.y->get_uid(), out.data()}};
      if (listed.graph.execute_plan_at_index(cpu(), pack, workspace.data(), index).is_bad() ||
          out[3] != static_cast<float>(index + 1))
        ++failures;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GE(listed.run(), 1);
}

TEST(Filters, MatchWholeNameComponents) {
  for (const auto& [filter, bars_scripted] :
       std::vector<std::pair<std::string, bool>>{{"test", true},
                                                 {"test.scripted", true},
                                                 {"tile_m=1", true},
                                                 {"test.scripted:tile_m=1", true},
                                                 {"test.script", false},
                                                 {"scripted", false},
                                                 {"te", false},
                                                 {"tile_m", false},
                                                 {"", false}}) {
    Listed listed;
    listed.graph.deselect_engines({filter});
    EXPECT_EQ(!listed.graph.plans()[0].barred.empty(), bars_scripted) << filter;
  }
}

TEST(Filters, OfEnginesCountAtTheLastCall) {
  Listed listed;
  listed.graph.deselect_engines({"test.scripted"}).deselect_engines({"cpu"});
  EXPECT_EQ(listed.graph.plans()[0].barred, "");
}

TEST(Filters, OfNotesSelectAndDeselect) {
  auto survivors = [](auto&& filter) {
    Listed listed;
    filter(listed.graph);
    std::vector<int64_t> tiles;
    for (int64_t index = 0; index < 3; ++index)
      if (listed.graph.plans()[index].barred.empty()) tiles.push_back(index + 1);
    return tiles;
  };
  using Tiles = std::vector<int64_t>;
  EXPECT_EQ(
      survivors([](Graph& g) { g.select_numeric_notes({NumericalNote_t::NONDETERMINISTIC}); }),
      (Tiles{1}));
  EXPECT_EQ(
      survivors([](Graph& g) { g.deselect_numeric_notes({NumericalNote_t::NONDETERMINISTIC}); }),
      (Tiles{2, 3}));
  EXPECT_EQ(
      survivors([](Graph& g) { g.select_behavior_notes({BehaviorNote_t::RUNTIME_COMPILATION}); }),
      (Tiles{2}));
  EXPECT_EQ(survivors([](Graph& g) {
              g.deselect_behavior_notes({BehaviorNote_t::RUNTIME_COMPILATION})
                  .deselect_numeric_notes({NumericalNote_t::NONDETERMINISTIC});
            }),
            (Tiles{3}));
}

TEST(Filters, ThatLeaveNothingAreNamed) {
  Listed listed;
  listed.graph.deselect_workspace_greater_than(-1);
  const error_t error = listed.graph.check_support();
  EXPECT_EQ(error.code, error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
  EXPECT_NE(error.err_msg.find("No execution plans support the graph"), std::string::npos);
  EXPECT_NE(error.err_msg.find("deselect_workspace_greater_than"), std::string::npos) << error;
  EXPECT_EQ(listed.graph.build_plans().code, error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
}

TEST(Notes, CanBeAskedBeforeBuilding) {
  Listed listed;
  std::vector<BehaviorNote_t> behavior;
  ASSERT_TRUE(listed.graph.get_behavior_notes_for_plan_at_index(1, behavior).is_good());
  EXPECT_EQ(behavior, (std::vector{BehaviorNote_t::RUNTIME_COMPILATION}));
  std::vector<NumericalNote_t> numeric;
  ASSERT_TRUE(listed.graph.get_numeric_notes_for_plan_at_index(0, numeric).is_good());
  EXPECT_EQ(numeric, (std::vector{NumericalNote_t::NONDETERMINISTIC}));
  EXPECT_EQ(listed.graph.get_behavior_notes(behavior).code, error_code_t::INVALID_VALUE);
  ASSERT_TRUE(listed.graph.build_plan_at_index(1).is_good());
  ASSERT_TRUE(listed.graph.get_behavior_notes(behavior).is_good());
  EXPECT_EQ(behavior, (std::vector{BehaviorNote_t::RUNTIME_COMPILATION}));
}

TEST(ByEngine, KnobsAreTakenAndChecked) {
  Listed listed;
  const int64_t count = listed.graph.get_execution_plan_count();
  ASSERT_TRUE(
      listed.graph.create_execution_plan("test.scripted", {{KnobType_t::TILE_M, 7}}).is_good());
  ASSERT_EQ(listed.graph.get_execution_plan_count(), count + 1);
  EXPECT_EQ(listed.graph.plans().back().name, "test.scripted:tile_m=7");
  ASSERT_TRUE(listed.graph.build_plan_at_index(count).is_good());
  EXPECT_EQ(listed.run(), 7);
  EXPECT_GE(listed.graph.get_workspace_size(), 7000) << "that of the knobs that were asked for";

  const error_t value =
      listed.graph.create_execution_plan("test.scripted", {{KnobType_t::TILE_M, 9}});
  EXPECT_EQ(value.code, error_code_t::INVALID_VALUE);
  EXPECT_NE(value.err_msg.find("1 to 8"), std::string::npos) << value;
  const error_t step =
      listed.graph.create_execution_plan("test.scripted", {{KnobType_t::STAGES, 3}});
  EXPECT_EQ(step.code, error_code_t::INVALID_VALUE);
  EXPECT_NE(step.err_msg.find("in steps of 2"), std::string::npos) << step;
  const error_t knob = listed.graph.create_execution_plan("test.scripted", {{KnobType_t::EDGE, 1}});
  EXPECT_EQ(knob.code, error_code_t::INVALID_VALUE);
  EXPECT_NE(knob.err_msg.find("TILE_M"), std::string::npos) << knob;
  const error_t engine = listed.graph.create_execution_plan("nobody", {});
  EXPECT_EQ(engine.code, error_code_t::INVALID_VALUE);
  EXPECT_NE(engine.err_msg.find("test.scripted"), std::string::npos) << engine;
  const error_t stubborn = listed.graph.create_execution_plan("test.stubborn", {});
  EXPECT_EQ(stubborn.code, error_code_t::GRAPH_NOT_SUPPORTED);
}

TEST(ByEngine, IdsFollowTheList) {
  Listed listed;
  int64_t count = 0;
  ASSERT_TRUE(listed.graph.get_engine_count(count).is_good());
  ASSERT_GE(count, 3);
  std::vector<std::string> names(static_cast<size_t>(count));
  for (int64_t id = 0; id < count; ++id)
    ASSERT_TRUE(listed.graph.get_engine_name(id, names[static_cast<size_t>(id)]).is_good());
  const auto scripted = std::ranges::find(names, "test.scripted");
  ASSERT_NE(scripted, names.end());
  ASSERT_NE(std::ranges::find(names, "reference"), names.end());
  std::vector<Knob> knobs;
  ASSERT_TRUE(listed.graph.get_knobs_for_engine(scripted - names.begin(), knobs).is_good());
  ASSERT_EQ(knobs.size(), 2u);
  EXPECT_EQ(knobs[0].type, KnobType_t::TILE_M);
  EXPECT_EQ(knobs[0].maxValue, 8);
  std::string name;
  EXPECT_EQ(listed.graph.get_engine_name(count, name).code, error_code_t::INVALID_VALUE);
  EXPECT_EQ(listed.graph.create_execution_plan(-1, {}).code, error_code_t::INVALID_VALUE);
}

TEST(ByName, GivesThePlanOfThatName) {
  for (const std::string name : {"test.scripted:tile_m=2", "test.scripted:tile_m=5", "reference"}) {
    ScriptedGraph scripted("scripted");
    ASSERT_TRUE(scripted.graph.build_operation_graph(cpu()).is_good());
    const error_t error = scripted.graph.create_execution_plan_by_name(name);
    ASSERT_TRUE(error.is_good()) << error;
    ASSERT_EQ(scripted.graph.get_execution_plan_count(), 1);
    EXPECT_EQ(scripted.graph.plans()[0].name, name);
    EXPECT_TRUE(scripted.graph.build_plans().is_good());
  }
  ScriptedGraph scripted("scripted");
  ASSERT_TRUE(scripted.graph.build_operation_graph(cpu()).is_good());
  for (const std::string name : {"", "|", "nobody", "test.scripted:tile_m=9",
                                 "test.scripted:tile_m=", "test.scripted:", "test.scripted:edge=1",
                                 "test.scripted:tile_m=2|test.scripted:tile_m=2", "test.stubborn"})
    EXPECT_EQ(scripted.graph.create_execution_plan_by_name(name).code, error_code_t::INVALID_VALUE)
        << name;
  EXPECT_EQ(scripted.graph.get_execution_plan_count(), 0);
}

TEST(ByName, EveryListedPlanIsFoundByItsName) {
  Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  auto a = graph.tensor(Tensor_attributes().set_dim({1, 24, 40}).set_stride({960, 40, 1}));
  auto b = graph.tensor(Tensor_attributes().set_dim({1, 40, 24}).set_stride({960, 24, 1}));
  auto bias = graph.tensor(Tensor_attributes().set_dim({1, 1, 24}).set_stride({24, 24, 1}));
  auto sum = graph.pointwise(graph.matmul(a, b, {}), bias,
                             Pointwise_attributes().set_mode(PointwiseMode_t::ADD));
  graph.pointwise(sum, Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD))
      ->set_output(true);
  auto largest = graph.reduction(sum, Reduction_attributes().set_mode(ReductionMode_t::MAX));
  largest->set_dim({1, 1, 24}).set_stride({24, 24, 1}).set_output(true);
  ASSERT_TRUE(graph.build_operation_graph(cpu()).is_good());
  ASSERT_TRUE(graph.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK}).is_good());
  const auto plans = graph.plans();
  EXPECT_LE(plans.size(), 128u);
  for (const PlanInfo& plan : plans) {
    Graph again = graph;
    ASSERT_TRUE(again.build_operation_graph(cpu()).is_good());
    const error_t error = again.create_execution_plan_by_name(plan.name);
    ASSERT_TRUE(error.is_good()) << error;
    EXPECT_EQ(again.plans()[0].name, plan.name);
    EXPECT_EQ(again.plans()[0].groups, plan.groups) << plan.name;
  }
}

TEST(Autotune, PutsTheFastestFirstWithNameNotesAndTime) {
  Listed only("scripted slow");
  // Others compute a ReLU of four elements faster than any scripted plan: they are left out.
  only.graph.deselect_engines({"cpu", "reference"});
  ASSERT_TRUE(only.graph.build_plans(BuildPlanPolicy_t::ALL).is_good());
  std::vector<float> in(4, 1), out(4, -1);
  std::vector<char> workspace(static_cast<size_t>(only.graph.get_autotune_workspace_size()));
  std::unordered_map<int64_t, void*> pack{{only.x->get_uid(), in.data()},
                                          {only.y->get_uid(), out.data()}};
  AutotuneOptions options;
  options.budget = std::chrono::milliseconds(400);
  const error_t error = only.graph.autotune(cpu(), pack, workspace.data(), options);
  ASSERT_TRUE(error.is_good()) << error;
  const auto plans = only.graph.plans();
  EXPECT_EQ(plans[0].name, "test.scripted:tile_m=3");
  EXPECT_EQ(plans[1].name, "test.scripted:tile_m=2");
  EXPECT_EQ(plans[2].name, "test.scripted:tile_m=1");
  EXPECT_TRUE(plans[0].numerical_notes.empty());
  EXPECT_EQ(plans[2].numerical_notes, (std::vector{NumericalNote_t::NONDETERMINISTIC}));
  EXPECT_GT(plans[0].measured_microseconds, 9000);
  EXPECT_LT(plans[0].measured_microseconds, plans[2].measured_microseconds);
  EXPECT_EQ(only.run(), 3) << "the candidate is the fastest";
  EXPECT_EQ(only.run(2), 1);

  // Mode B knows what was measured; A does not.
  ScriptedGraph later("scripted slow");
  ASSERT_TRUE(later.graph.build_operation_graph(cpu()).is_good());
  ASSERT_TRUE(later.graph.create_execution_plans({HeurMode_t::B}).is_good());
  const auto measured = names_of(later.graph);
  const auto place = [&](const std::string& name) {
    return std::ranges::find(measured, name) - measured.begin();
  };
  EXPECT_LT(place("test.scripted:tile_m=3"), place("test.scripted:tile_m=2"));
  EXPECT_LT(place("test.scripted:tile_m=2"), place("test.scripted:tile_m=1"));
  EXPECT_EQ(names_of(Listed("scripted slow").graph)[0], "test.scripted:tile_m=1");
}

TEST(Autotune, NeedsABuiltPlanAndItsWorkspace) {
  Listed listed;
  std::vector<float> in(4, 1), out(4, -1);
  std::unordered_map<TensorPtr, void*> pack{{listed.x, in.data()}, {listed.y, out.data()}};
  EXPECT_EQ(listed.graph.autotune(cpu(), pack, nullptr).code, error_code_t::GRAPH_EXECUTION_FAILED);
  ASSERT_TRUE(listed.graph.build_plans().is_good());
  EXPECT_EQ(listed.graph.autotune(cpu(), pack, nullptr).code, error_code_t::INVALID_VALUE);
  std::vector<char> workspace(static_cast<size_t>(listed.graph.get_autotune_workspace_size()));
  EXPECT_TRUE(listed.graph.autotune(cpu(), pack, workspace.data()).is_good());
  pack.erase(listed.x);
  EXPECT_EQ(listed.graph.autotune(cpu(), pack, workspace.data()).code,
            error_code_t::INVALID_VARIANT_PACK);
}

// B145
TEST(Autotune, RunsInTheStreamOfTheHandle) {
  ScriptedGraph scripted("scripted");
  const auto handle = create_handle();
  ASSERT_TRUE(scripted.graph.build(handle.get(), {HeurMode_t::A}).is_good());
  std::vector<float> in(4, 1), out(4, -1);
  std::vector<char> workspace(static_cast<size_t>(scripted.graph.get_autotune_workspace_size()));
  std::unordered_map<TensorPtr, void*> pack{{scripted.x, in.data()}, {scripted.y, out.data()}};
  int stream = 0;
  handle->set_stream(&stream);
  ASSERT_TRUE(scripted.graph.autotune(handle.get(), pack, workspace.data()).is_good());
  EXPECT_EQ(test::last_scripted_stream(), &stream);
  EXPECT_EQ(in, std::vector<float>(4, 1)) << "inputs are left";
  handle->set_stream(nullptr);
  ASSERT_TRUE(scripted.graph.execute(handle.get(), pack, workspace.data()).is_good());
  EXPECT_EQ(test::last_scripted_stream(), nullptr);
}

TEST(Explain, NamesRefusals) {
  Listed listed;
  const std::string text = listed.graph.explain();
  EXPECT_NE(text.find("test.scripted:tile_m=1"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing is good enough"), std::string::npos) << text;
}

TEST(Plans, WhatIsAskedForByNameIsTheLastOfTheList) {
  ScriptedGraph scripted("pinned");
  ASSERT_TRUE(scripted.graph.build(cpu(), {HeurMode_t::A, HeurMode_t::FALLBACK}).is_good());
  std::string first;
  ASSERT_TRUE(scripted.graph.get_plan_name_at_index(0, first).is_good());
  const int64_t count = scripted.graph.get_execution_plan_count();
  ASSERT_GT(count, 1);
  ASSERT_TRUE(scripted.graph.create_execution_plan_by_name(first).is_good());
  EXPECT_EQ(scripted.graph.get_execution_plan_count(), count);
  std::string last, candidate;
  ASSERT_TRUE(scripted.graph.get_plan_name_at_index(count - 1, last).is_good());
  EXPECT_EQ(last, first);
  ASSERT_TRUE(scripted.graph.get_plan_name(candidate).is_good());
  EXPECT_EQ(candidate, first);  // the candidate moved with its plan
}

}  // namespace
}  // namespace warploom::graph
