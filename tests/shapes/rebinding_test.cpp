// A plan is bound in what the last binding left: nothing of it may be seen in the next.
#include <gtest/gtest.h>

#include <thread>

#include "base/spare.h"
#include "harness/plan_runner.h"
#include "shapes/family.h"

namespace warploom::test {
namespace {

struct Rebinding : testing::TestWithParam<size_t> {
  const std::unique_ptr<Family> family = std::move(all_families()[GetParam()]);
  graph::Graph graph = describe_family(*family, packed(family->first_dims()));

  void SetUp() override {
    graph.set_override_shape_enabled(true);
    ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
  }
};

TEST_P(Rebinding, FromManyThreadsAtOnce) {
  std::vector<std::string> mismatches(4);
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < mismatches.size(); ++i)
    threads.emplace_back([&, i] {
      Random random{static_cast<unsigned>(i)};
      for (int round = 0; round < 20 && mismatches[i].empty(); ++round) {
        const Shapes shapes = random_strides(*family, family->random_dims(random), random);
        const FamilyRun run = run_family(*family, graph, shapes, true);
        mismatches[i] = run.error.is_good() ? run.mismatch : run.error.get_message();
      }
    });
  threads.clear();
  for (const std::string& mismatch : mismatches) EXPECT_EQ(mismatch, "");
}

TEST_P(Rebinding, AfterShapesThatContradict) {
  Random random{3};
  for (int round = 0; round < 20; ++round) {
    const Shapes shapes = random_strides(*family, family->random_dims(random), random);
    // The last tensor is a result: it is found out after all others have their shapes.
    Shapes wrong = random_strides(*family, family->random_dims(random), random);
    wrong.dims.back().push_back(1);
    std::vector<int64_t> uids;
    for (size_t i = 0; i < wrong.dims.size(); ++i) uids.push_back(static_cast<int64_t>(i) + 1);
    int64_t bytes = 0;
    EXPECT_TRUE(graph.get_workspace_size(bytes, uids, wrong.dims, wrong.strides).is_bad());
    const FamilyRun run = run_family(*family, graph, shapes, true);
    ASSERT_TRUE(run.error.is_good()) << run.error;
    ASSERT_EQ(run.mismatch, "");
  }
}

// Overrides of some tensors: the others have the shapes described, not those of the last binding.
TEST_P(Rebinding, ForgetsTheLastOverrides) {
  const Shapes first = packed(family->first_dims());
  Random random{4};
  for (int round = 0; round < 10; ++round) {
    const Shapes other = random_strides(*family, family->random_dims(random), random);
    ASSERT_EQ(run_family(*family, graph, other, true).mismatch, "");
    int64_t expected = 0, bytes = 0;
    ASSERT_TRUE(graph.get_workspace_size(expected).is_good());
    ASSERT_TRUE(
        graph.get_workspace_size(bytes, {1}, {first.dims[0]}, {first.strides[0]}).is_good());
    EXPECT_EQ(bytes, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Rebinding, testing::Range<size_t>(0, all_families().size()),
                         [](const auto& info) { return all_families()[info.param]->name(); });

TEST(Spare, GivesBackWhatIsUsableAndNothingElse) {
  base::Spare<int> spare;
  const auto any = [](int) { return true; };
  const auto two = [] { return std::make_unique<int>(2); };
  const int* first = spare.take(any, two).get();
  auto again = spare.take(any, two);
  EXPECT_EQ(again.get(), first);
  *again = 5;
  EXPECT_EQ(*spare.take(any, two), 2) << "while the other is in use";
  again.reset();
  EXPECT_EQ(*spare.take([](int value) { return value != 5; }, two), 2);
}

}  // namespace
}  // namespace warploom::test
