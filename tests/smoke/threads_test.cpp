#include <gtest/gtest.h>

#include <thread>

#include "harness/plan_runner.h"
#include "smoke/graphs.h"

namespace warploom::test {
namespace {

constexpr int kThreads = 8, kRuns = 4;

// Large enough to be split among the pool's threads.
constexpr int64_t kM = 96, kK = 64, kN = 160;

TEST(Smoke, OnePlanFromEightThreads) {
  auto graph = float_graph();
  auto a = input(graph, "a", {1, kM, kK});
  auto b = input(graph, "b", {1, kK, kN});
  auto product = graph.matmul(a, b, graph::Matmul_attributes());
  auto y = graph.pointwise(product, mode(PointwiseMode_t::TANH_FWD));
  keep(y, {1, kM, kN});
  auto sums = graph.reduction(y, graph::Reduction_attributes().set_mode(ReductionMode_t::ADD));
  keep(sums, {1, kM, 1});
  auto error = graph.build(cpu(), {HeurMode_t::A});
  ASSERT_TRUE(error.is_good()) << error.get_message();

  const Values a_values = spread_values(kM * kK, 1), b_values = spread_values(kK * kN, 2);
  std::vector<float> a_data(a_values.begin(), a_values.end());
  std::vector<float> b_data(b_values.begin(), b_values.end());
  struct Outputs {
    std::vector<float> y = std::vector<float>(kM * kN), sums = std::vector<float>(kM);
    std::string message;
  };
  const auto run = [&](Outputs& outputs) {
    std::vector<char> workspace(graph.get_workspace_size());
    std::unordered_map<graph::TensorPtr, void*> pack{
        {a, a_data.data()}, {b, b_data.data()}, {y, outputs.y.data()}, {sums, outputs.sums.data()}};
    for (int i = 0; i < kRuns; ++i) {
      const auto result =
          graph.execute(cpu(), pack, workspace.data(), static_cast<int64_t>(workspace.size()));
      if (result.is_bad()) outputs.message = result.get_message();
    }
  };

  Outputs alone;
  run(alone);
  ASSERT_EQ(alone.message, "");
  std::vector<Outputs> together(kThreads);
  std::vector<std::thread> threads;
  for (Outputs& outputs : together) threads.emplace_back(run, std::ref(outputs));
  for (std::thread& thread : threads) thread.join();
  for (const Outputs& outputs : together) {
    EXPECT_EQ(outputs.message, "");
    EXPECT_EQ(outputs.y, alone.y);
    EXPECT_EQ(outputs.sums, alone.sums);
  }
}

// Graphs of their own, described, built and run at once, share what the library keeps for all.
TEST(Smoke, GraphsBuiltInEightThreads) {
  std::vector<std::string> messages(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([i, &message = messages[i]] {
      auto graph = float_graph();
      const int64_t count = 50 + i;
      auto x = input(graph, "x", {1, 1, count});
      auto y = graph.pointwise(x, mode(PointwiseMode_t::EXP));
      keep(y, {1, 1, count});
      auto error = graph.build(cpu(), {HeurMode_t::A, HeurMode_t::FALLBACK});
      if (error.is_bad()) {
        message = error.get_message();
        return;
      }
      std::vector<float> zeros(count), ones(count);
      std::vector<char> workspace(graph.get_workspace_size());
      std::unordered_map<graph::TensorPtr, void*> pack{{x, zeros.data()}, {y, ones.data()}};
      error = graph.execute(cpu(), pack, workspace.data());
      if (error.is_bad()) message = error.get_message();
      if (ones != std::vector<float>(count, 1.0f)) message = "exp(0) is not 1";
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& message : messages) EXPECT_EQ(message, "");
}

// One plan bound to as many shapes at once as there are threads, and graphs of those shapes that
// find its like in a cache.
TEST(Smoke, OtherShapesFromEightThreads) {
  const auto cache = std::make_shared<KernelCache>();
  const auto describe = [](graph::Graph& graph, int64_t rows) {
    auto a = input(graph, "a", {1, rows, kK}), b = input(graph, "b", {1, kK, kN});
    auto y = graph.pointwise(graph.matmul(a, b, graph::Matmul_attributes()),
                             mode(PointwiseMode_t::RELU_FWD));
    keep(y, {1, rows, kN});
    a->set_uid(1);
    b->set_uid(2);
    y->set_uid(3);
  };
  auto shared = float_graph();
  describe(shared, kM);
  shared.set_override_shape_enabled(true);
  ASSERT_TRUE(shared.build(cpu(), {HeurMode_t::A}).is_good());

  std::vector<std::string> messages(kThreads);
  const auto run = [&](int64_t rows, std::string& message) {
    const std::vector<int64_t> uids{1, 3};
    const std::vector<std::vector<int64_t>> dims{{1, rows, kK}, {1, rows, kN}};
    const std::vector<std::vector<int64_t>> strides{{rows * kK, kK, 1}, {rows * kN, kN, 1}};
    std::vector<float> a(rows * kK, 1.0f), b(kK * kN, 1.0f);
    for (int i = 0; i < kRuns; ++i) {
      std::vector<float> y(rows * kN), of_graph(rows * kN);
      std::unordered_map<int64_t, void*> pack{{1, a.data()}, {2, b.data()}, {3, y.data()}};
      int64_t bytes = 0;
      auto error = shared.get_workspace_size(bytes, uids, dims, strides);
      std::vector<char> workspace(bytes);
      if (error.is_good())
        error = shared.execute(cpu(), pack, workspace.data(), bytes, uids, dims, strides);
      if (error.is_bad()) message = error.get_message();

      auto graph = float_graph();
      describe(graph, rows);
      graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
      error = graph.build(cpu(), {HeurMode_t::A});
      workspace.resize(graph.get_workspace_size());
      pack[3] = of_graph.data();
      if (error.is_good()) error = graph.execute(cpu(), pack, workspace.data());
      if (error.is_bad()) message = error.get_message();
      if (y != std::vector<float>(rows * kN, static_cast<float>(kK)) || y != of_graph)
        message = "wrong result";
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(run, 3 + 29 * i, std::ref(messages[i]));
  for (std::thread& thread : threads) thread.join();
  for (const std::string& message : messages) EXPECT_EQ(message, "");
}

}  // namespace
}  // namespace warploom::test
