#include <gtest/gtest.h>

#include <functional>

#include "harness/plan_runner.h"

// Integers beyond what float and double hold; docs/semantics.md, Integers.
namespace warploom::graph {
namespace {

using test::cpu;
using Numbers = std::vector<int64_t>;
using Describe = std::function<TensorPtr(Graph&, TensorPtr a, TensorPtr b)>;

constexpr DataType_t kIntegers[] = {DataType_t::INT8, DataType_t::UINT8, DataType_t::INT32,
                                    DataType_t::INT64, DataType_t::BOOLEAN};
constexpr int64_t kOdd = (int64_t{1} << 53) + 1;  // not a double

Describe pointwise(PointwiseMode_t mode) {
  return [mode](Graph& graph, TensorPtr a, TensorPtr b) {
    return graph.pointwise(a, b, Pointwise_attributes().set_mode(mode));
  };
}

TensorPtr reduced(Graph& graph, TensorPtr x, ReductionMode_t mode) {
  auto y = graph.reduction(x, Reduction_attributes().set_mode(mode));
  y->set_dim({1, 1}).set_stride({1, 1});
  return y;
}

Describe reduction(ReductionMode_t mode) {
  return [mode](Graph& graph, TensorPtr a, TensorPtr) { return reduced(graph, a, mode); };
}

/// Every plan, for every integer compute type, gives `expected` as INT64.
void expect_numbers(const Describe& describe, Numbers a, Numbers b, const Numbers& expected) {
  for (const DataType_t compute : kIntegers) {
    SCOPED_TRACE(std::string(to_string(compute)));
    Graph graph;
    graph.set_io_data_type(DataType_t::INT64).set_intermediate_data_type(DataType_t::INT64);
    graph.set_compute_data_type(compute);
    const auto n = static_cast<int64_t>(a.size());
    const auto input = [&](int64_t uid) {
      return graph.tensor(Tensor_attributes().set_dim({1, n}).set_stride({n, 1}).set_uid(uid));
    };
    const auto ta = input(1), tb = input(2);
    describe(graph, ta, tb)->set_output(true).set_uid(3);
    const error_t error = test::build_every_plan(graph, cpu());
    ASSERT_TRUE(error.is_good()) << error;
    const auto plans = graph.plans();
    for (size_t plan = 0; plan < plans.size(); ++plan) {
      if (!plans[plan].is_built) continue;
      Numbers result(expected.size(), -77);
      std::vector<char> workspace(static_cast<size_t>(plans[plan].workspace_bytes), '\xff');
      std::unordered_map<int64_t, void*> pack{{1, a.data()}, {2, b.data()}, {3, result.data()}};
      const error_t run =
          graph.execute_plan_at_index(cpu(), pack, workspace.data(), static_cast<int64_t>(plan));
      ASSERT_TRUE(run.is_good()) << run;
      EXPECT_EQ(result, expected) << plans[plan].name;
    }
  }
}

TEST(Integers, PointwiseIsExactForEveryComputeType) {
  using enum PointwiseMode_t;
  expect_numbers(pointwise(ADD), {kOdd, kOdd}, {0, 1}, {kOdd, kOdd + 1});
  expect_numbers(pointwise(MUL), {kOdd, INT64_MAX}, {3, 2}, {3 * kOdd, -2});
  expect_numbers(pointwise(DIV), {7, -7, 7, kOdd}, {2, 2, -2, 1}, {3, -3, -3, kOdd});
  expect_numbers(pointwise(DIV), {1, -1, 0}, {0, 0, 0}, {INT64_MAX, INT64_MIN, 0});
  expect_numbers(pointwise(MOD), {kOdd, -7, 5}, {2, 4, 0}, {1, -3, 0});
}

TEST(Integers, ReductionsAreExact) {
  using enum ReductionMode_t;
  constexpr int64_t kPrime = 3000000019;
  expect_numbers(reduction(MUL), {kPrime, kPrime}, {0, 0}, {kPrime * kPrime});
  // Modulo 2^64.
  expect_numbers(reduction(MUL), Numbers(16, kPrime), Numbers(16), {-1600230054162359743});
  expect_numbers(reduction(MUL_NO_ZEROS), Numbers(16, 16), Numbers(16), {0});
  expect_numbers(reduction(ADD), {kOdd, 1, -kOdd}, Numbers(3), {1});
  // The sum is exact, the mean rounded to even.
  constexpr int64_t kLarge = int64_t{1} << 62;
  expect_numbers(reduction(AVG), {kLarge, 3, -kLarge}, Numbers(3), {1});
  expect_numbers(reduction(AVG), {1, 2}, Numbers(2), {2});
  expect_numbers(reduction(NORM2), {1, 2}, Numbers(2), {2});
}

// A neighbour that computes in floats changes nothing.
TEST(Integers, StayExactBesideOtherArithmetic) {
  const auto plus = [](Graph& graph, TensorPtr a, TensorPtr b) {
    return graph.pointwise(a, b, Pointwise_attributes().set_mode(PointwiseMode_t::ADD));
  };
  const auto beside_float = [&](Graph& graph, TensorPtr a, TensorPtr b) {
    auto sum = plus(graph, a, b);
    auto root = graph.pointwise(sum, Pointwise_attributes()
                                         .set_mode(PointwiseMode_t::SQRT)
                                         .set_compute_data_type(DataType_t::FLOAT));
    root->set_data_type(DataType_t::FLOAT);
    auto zero = graph.pointwise(root, root,
                                Pointwise_attributes()
                                    .set_mode(PointwiseMode_t::CMP_LT)
                                    .set_compute_data_type(DataType_t::FLOAT));
    zero->set_data_type(DataType_t::BOOLEAN);
    return plus(graph, sum, zero);
  };
  expect_numbers(beside_float, {kOdd, kOdd}, {0, 1}, {kOdd, kOdd + 1});
  const auto beside_mean = [&](Graph& graph, TensorPtr a, TensorPtr b) {
    auto sum = plus(graph, a, b);
    return graph.pointwise(sum, reduced(graph, sum, ReductionMode_t::AVG),
                           Pointwise_attributes().set_mode(PointwiseMode_t::MAX));
  };
  expect_numbers(beside_mean, {kOdd, kOdd}, {0, 2}, {kOdd + 1, kOdd + 2});
  const auto from_float = [](Graph& graph, TensorPtr a, TensorPtr) {
    auto x = graph.pointwise(a, Pointwise_attributes()
                                    .set_mode(PointwiseMode_t::IDENTITY)
                                    .set_compute_data_type(DataType_t::FLOAT));
    return reduced(graph, x, ReductionMode_t::MUL);
  };
  expect_numbers(from_float, Numbers(3, 3000000000), Numbers(3), {-2666827603905609728});
}

}  // namespace
}  // namespace warploom::graph
