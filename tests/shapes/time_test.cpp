// What another shape costs: printed, and held to many times what it takes on a quiet machine, so
// that only a change of kind fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "harness/plan_runner.h"
#include "shapes/family.h"

namespace warploom::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 200;
constexpr double kSlack = 50;  // sanitizers, and whatever else the machine does

struct Times {
  double median = 0, least = 0;  // microseconds
};

template <class Run>
Times time_of(Run&& run) {
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::ranges::sort(times);
  return {times[kRounds / 2], times.front()};
}

TEST(ShapeTime, BindingAndNewGraphs) {
  for (const auto& family : all_families()) {
    Random random{5};
    const Shapes first = packed(family->first_dims());
    const Shapes other = random_strides(*family, family->random_dims(random), random);
    std::vector<int64_t> uids;
    for (size_t i = 0; i < other.dims.size(); ++i) uids.push_back(static_cast<int64_t>(i) + 1);

    graph::Graph graph = describe_family(*family, first);
    graph.set_override_shape_enabled(true);
    ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
    int64_t bytes = 0;
    const Times bind = time_of([&] {
      ASSERT_TRUE(graph.get_workspace_size(bytes, uids, other.dims, other.strides).is_good());
    });

    const auto cache = std::make_shared<KernelCache>();
    const auto build = [&] {
      graph::Graph next = describe_family(*family, other);
      next.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
      ASSERT_TRUE(next.validate().is_good());
      ASSERT_TRUE(next.build_operation_graph(cpu()).is_good());
      ASSERT_TRUE(next.create_execution_plans({HeurMode_t::A}).is_good());
      ASSERT_TRUE(next.check_support().is_good());
      ASSERT_TRUE(next.build_plans().is_good());
    };
    build();
    const Times anew = time_of(build);
    const Times frozen = time_of([&] {
      graph::Graph next = describe_family(*family, other);
      next.set_dynamic_shape_enabled(true);
      ASSERT_TRUE(next.build_operation_graph(cpu()).is_good());
    });
    std::printf(
        "  %-16s bind %5.1f us (least %5.1f), new graph %5.1f us (least %5.1f), of which "
        "described and frozen %5.1f us\n",
        family->name().c_str(), bind.median, bind.least, anew.median, anew.least, frozen.median);
    EXPECT_LT(bind.least, 20 * kSlack);
    EXPECT_LT(anew.least, 100 * kSlack);
  }
}

}  // namespace
}  // namespace warploom::test
