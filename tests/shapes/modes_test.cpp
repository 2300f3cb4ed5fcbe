// Verification and autotuning of graphs whose shapes change.
#include <gtest/gtest.h>

#include "harness/plan_runner.h"
#include "shapes/family.h"

namespace warploom::test {
namespace {

TEST(ShapeModes, VerificationComparesEveryBinding) {
  std::unique_ptr<Handle> handle;
  HandleOptions options;
  options.device = DeviceType::CPU;
  options.verify = true;
  ASSERT_TRUE(Handle::create(handle, options).is_good());
  Random random{3};
  for (const auto& family : all_families()) {
    graph::Graph graph = describe_family(*family, packed(family->first_dims()));
    graph.set_override_shape_enabled(true);
    ASSERT_TRUE(graph.build(handle.get(), {HeurMode_t::A}).is_good());
    for (int i = 0; i < 3; ++i) {
      const Shapes shapes = random_strides(*family, family->random_dims(random), random);
      const FamilyRun run = run_family(*family, graph, shapes, true, 1, handle.get());
      EXPECT_TRUE(run.error.is_good()) << run.error;
      EXPECT_EQ(run.mismatch, "");
    }
  }
}

TEST(ShapeModes, AutotuneKeepsOverridesWorking) {
  const auto families = all_families();
  const Family& family = *families[1];
  graph::Graph graph = describe_family(family, packed(family.first_dims()));
  graph.set_override_shape_enabled(true);
  ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}, BuildPlanPolicy_t::ALL).is_good());
  std::vector<TensorMemory> memory;
  std::unordered_map<int64_t, void*> pack;
  const Shapes first = packed(family.first_dims());
  memory.reserve(first.dims.size());
  for (size_t i = 0; i < first.dims.size(); ++i) {
    memory.emplace_back(graph::Tensor_attributes()
                            .set_dim(first.dims[i])
                            .set_stride(first.strides[i])
                            .set_data_type(family.type()));
    pack[static_cast<int64_t>(i) + 1] = memory.back().pointer();
  }
  GuardedBuffer workspace(graph.get_autotune_workspace_size());
  const graph::AutotuneOptions options{std::chrono::milliseconds(20)};
  ASSERT_TRUE(graph.autotune(cpu(), pack, workspace.data(), options).is_good());
  Random random{4};
  const FamilyRun run =
      run_family(family, graph, random_strides(family, family.random_dims(random), random), true);
  EXPECT_TRUE(run.error.is_good()) << run.error;
  EXPECT_EQ(run.mismatch, "");
}

}  // namespace
}  // namespace warploom::test
