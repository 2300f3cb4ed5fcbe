#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "harness/plan_runner.h"

namespace warploom::graph {
namespace {

using test::cpu;

/// x + x0 + x1 + ..., in float.
struct Chain {
  explicit Chain(int64_t length, int64_t n = 3) {
    graph.set_io_data_type(DataType_t::FLOAT)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT);
    const auto attributes = Tensor_attributes().set_dim({n}).set_stride({1});
    inputs.push_back(graph.tensor(attributes));
    y = inputs[0];
    for (int64_t i = 0; i < length; ++i) {
      inputs.push_back(graph.tensor(attributes));
      y = graph.pointwise(y, inputs.back(), Pointwise_attributes().set_mode(PointwiseMode_t::ADD));
    }
    y->set_output(true);
  }
  Graph graph;
  std::vector<TensorPtr> inputs;
  TensorPtr y;
};

// Nothing that planning does may take time or memory in proportion to an extent.
TEST(Scale, ASumOfManyProductsIsPlannedAtOnce) {
  constexpr int64_t kDepth = int64_t{1} << 50;
  Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT).set_compute_data_type(DataType_t::FLOAT);
  const auto a = graph.tensor(Tensor_attributes().set_dim({2, kDepth}).set_stride({1, 0}));
  const auto b = graph.tensor(Tensor_attributes().set_dim({kDepth, 2}).set_stride({0, 1}));
  graph.matmul(a, b, Matmul_attributes())->set_output(true);
  const auto start = std::chrono::steady_clock::now();
  const error_t built =
      graph.build(cpu(), {HeurMode_t::A, HeurMode_t::FALLBACK}, BuildPlanPolicy_t::ALL);
  EXPECT_TRUE(built.is_good()) << built;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

// B108
TEST(Scale, LongChainsRun) {
  for (const int64_t length : {60, 500}) {
    Chain chain(length);
    const error_t built = chain.graph.build(cpu(), {HeurMode_t::A});
    ASSERT_TRUE(built.is_good()) << built;
    std::vector<std::vector<float>> memory;
    std::unordered_map<TensorPtr, void*> pack;
    for (int64_t i = 0; i <= length; ++i) {
      memory.emplace_back(3, static_cast<float>(i));
      pack[chain.inputs[static_cast<size_t>(i)]] = memory.back().data();
    }
    std::vector<float> out(3, -1);
    pack[chain.y] = out.data();
    std::vector<char> workspace(static_cast<size_t>(chain.graph.get_workspace_size()), '\xff');
    const error_t error = chain.graph.execute(cpu(), pack, workspace.data());
    ASSERT_TRUE(error.is_good()) << error;
    const auto sum = static_cast<float>(length * (length + 1) / 2);
    EXPECT_EQ(out, (std::vector<float>{sum, sum, sum}));
    std::string name;
    ASSERT_TRUE(chain.graph.get_plan_name(name).is_good());
    EXPECT_LT(name.size(), 200u) << name;
    Graph again = chain.graph;
    ASSERT_TRUE(again.build_operation_graph(cpu()).is_good());
    EXPECT_TRUE(again.create_execution_plan_by_name(name).is_good()) << name;
  }
}

// B144
TEST(Scale, CheckSupportTakesLessThanAMillisecond) {
  std::vector<double> milliseconds;
  for (int64_t i = 0; i < 1000; ++i) {
    Chain chain(1 + i % 5, 1 + i);
    ASSERT_TRUE(chain.graph.build_operation_graph(cpu()).is_good());
    ASSERT_TRUE(chain.graph.create_execution_plans({HeurMode_t::A}).is_good());
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(chain.graph.check_support().is_good());
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
    for (const PlanInfo& plan : chain.graph.plans()) ASSERT_FALSE(plan.is_built);
  }
  // The median: a machine that does other things as well must not fail the test.
  std::nth_element(milliseconds.begin(), milliseconds.begin() + 500, milliseconds.end());
  EXPECT_LT(milliseconds[500], 1.0);
}

/// Sanitizers keep what was freed; that of addresses finds leaks itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeepsFreedMemory = true;
#elif defined(__has_feature)
constexpr bool kKeepsFreedMemory =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kKeepsFreedMemory = false;
#endif

/// 0 where they tell nothing.
int64_t resident_pages() {
  if (kKeepsFreedMemory) return 0;
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident;
}

void build_and_destroy(int graphs) {
  for (int i = 0; i < graphs; ++i) {
    Chain chain(2, 64);
    ASSERT_TRUE(chain.graph.build(cpu(), {HeurMode_t::A}).is_good());
  }
}

void expect_no_growth(int graphs) {
  build_and_destroy(graphs / 10);
  const int64_t before = resident_pages();
  build_and_destroy(graphs);
  const int64_t grown = (resident_pages() - before) * 4096;
  EXPECT_LT(grown, int64_t{graphs} * 100) << "bytes, of " << graphs << " graphs";
}

// B151: a leak of 100 bytes per graph would show.
TEST(Scale, GraphsLeaveNothingBehind) {
  if (resident_pages() == 0) GTEST_SKIP() << "the memory in use is not known";
  expect_no_growth(1000);
}

TEST(ScaleLong, TenThousandGraphsLeaveNothingBehind) {
  if (resident_pages() == 0) GTEST_SKIP() << "the memory in use is not known";
  expect_no_growth(10000);
}

}  // namespace
}  // namespace warploom::graph
