// Two hundred shapes of one graph, each way: no kernel is built after the first, and results are
// right.
#include <gtest/gtest.h>

#include "harness/plan_runner.h"
#include "plan/kernel.h"
#include "shapes/family.h"

namespace warploom::test {
namespace {

constexpr int kShapes = 200;

struct AnyFamily : testing::TestWithParam<size_t> {
  const std::unique_ptr<Family> family = std::move(all_families()[GetParam()]);
  Random random{17};

  Shapes next() { return random_strides(*family, family->random_dims(random), random); }
};

TEST_P(AnyFamily, OverriddenShapes) {
  graph::Graph graph = describe_family(*family, packed(family->first_dims()));
  graph.set_override_shape_enabled(true);
  ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
  const int64_t built = plan::made_kernel_count();
  for (int i = 0; i < kShapes; ++i) {
    const FamilyRun run = run_family(*family, graph, next(), true, i % 4);
    ASSERT_TRUE(run.error.is_good()) << run.error << "\n" << graph.explain();
    ASSERT_EQ(run.mismatch, "") << "shape " << i;
  }
  EXPECT_EQ(plan::made_kernel_count(), built);
}

TEST_P(AnyFamily, EveryPlanTakesOverriddenShapes) {
  graph::Graph graph = describe_family(*family, packed(family->first_dims()));
  graph.set_override_shape_enabled(true);
  ASSERT_TRUE(build_every_plan(graph, cpu()).is_good());
  const int64_t built = plan::made_kernel_count();
  for (int64_t plan = 0; plan < graph.get_execution_plan_count(); ++plan) {
    ASSERT_TRUE(graph.build_plan_at_index(plan).is_good());
    for (int i = 0; i < 3; ++i) {
      const FamilyRun run = run_family(*family, graph, next(), true, i);
      ASSERT_TRUE(run.error.is_good()) << run.error;
      ASSERT_EQ(run.mismatch, "") << "plan " << plan << ", shape " << i;
    }
  }
  EXPECT_EQ(plan::made_kernel_count(), built);
}

TEST_P(AnyFamily, NewGraphsWithACache) {
  const auto cache = std::make_shared<KernelCache>();
  int64_t built = 0;
  size_t key = 0;
  for (int i = 0; i < kShapes; ++i) {
    const Shapes shapes = i == 0 ? packed(family->first_dims()) : next();
    graph::Graph graph = describe_family(*family, shapes);
    graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
    ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
    if (i == 0) {
      built = plan::made_kernel_count();
      key = graph.key();
    }
    EXPECT_EQ(graph.key(), key);
    const FamilyRun run = run_family(*family, graph, shapes, false, i % 4);
    ASSERT_TRUE(run.error.is_good()) << run.error;
    ASSERT_EQ(run.mismatch, "") << "shape " << i << "\n" << graph.explain();
  }
  EXPECT_EQ(plan::made_kernel_count(), built);
  EXPECT_TRUE(cache->is_finalized());
}

// The same bits as of the described graph, and as of a plan built for these shapes.
TEST_P(AnyFamily, OverridesOfTheSameShapesGiveTheSameBits) {
  const Shapes first = packed(family->first_dims());
  graph::Graph graph = describe_family(*family, first);
  graph.set_override_shape_enabled(true);
  ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
  const FamilyRun described = run_family(*family, graph, first, false);
  const FamilyRun overridden = run_family(*family, graph, first, true);
  ASSERT_TRUE(described.error.is_good() && overridden.error.is_good()) << overridden.error;
  EXPECT_EQ(described.mismatch, "");
  EXPECT_EQ(described.outputs, overridden.outputs);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AnyFamily, testing::Range<size_t>(0, 5),
                         [](const auto& test) { return all_families()[test.param]->name(); });

}  // namespace
}  // namespace warploom::test
