#include "fuzz/random_graph.h"

#include <gtest/gtest.h>

namespace warploom::test {
namespace {

ValuesByUid by_uid(const Inputs& inputs) {
  ValuesByUid values;
  for (const auto& [tensor, content] : inputs) values[tensor->get_uid()] = content;
  return values;
}

// Every plan of the graph gives what the plan of the reference engine gives.
void compare_plans(uint32_t seed) {
  RandomGraph random(seed);
  SCOPED_TRACE("WARPLOOM_FUZZ_SEED=" + std::to_string(seed) + ": " + random.description);
  const auto error = build_every_plan(random.graph, cpu());
  ASSERT_TRUE(error.is_good()) << error;
  std::vector<int64_t> outputs;
  for (const auto& output : random.outputs) outputs.push_back(output.tensor->get_uid());

  const auto plans = random.graph.plans();
  int64_t oracle = -1;
  for (size_t i = 0; i < plans.size(); ++i)
    if (plans[i].is_built && plans[i].name.starts_with("reference"))
      oracle = static_cast<int64_t>(i);
  ASSERT_NE(oracle, -1) << "no plan of the reference engine";
  const PlanRun expected = run_plan(random.graph, cpu(), oracle, by_uid(random.inputs), outputs);
  ASSERT_TRUE(expected.error.is_good()) << expected.error;

  for (size_t i = 0; i < plans.size(); ++i) {
    if (static_cast<int64_t>(i) == oracle) continue;
    SCOPED_TRACE("plan " + plans[i].name);
    EXPECT_TRUE(plans[i].is_built) << plans[i].barred;
    const PlanRun run =
        run_plan(random.graph, cpu(), static_cast<int64_t>(i), by_uid(random.inputs), outputs);
    ASSERT_TRUE(run.error.is_good()) << run.error;
    EXPECT_EQ(run.damage, "");
    for (const auto& [tensor, bound] : random.outputs) {
      auto tolerance = Tolerance::of(tensor->get_data_type());
      tolerance.absolute_floor += 1e-6 * bound;
      const int64_t uid = tensor->get_uid();
      EXPECT_EQ(compare(run.outputs.at(uid), expected.outputs.at(uid), tolerance), "")
          << "in output " << tensor->get_name();
    }
  }
}

TEST(RandomGraphs, EveryPlanIsTheReference) {
  for (uint32_t seed : seeds(60)) {
    compare_plans(seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomGraphsLong, EveryPlanIsTheReference) {
  for (uint32_t seed : seeds(3000)) {
    compare_plans(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace warploom::test
