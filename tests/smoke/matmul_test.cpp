#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/plan_runner.h"
#include "smoke/graphs.h"

namespace warploom::test {
namespace {

// An epilogue, a reduction of what was stored, two outputs; no extent is a multiple of a vector.
TEST(Smoke, MatmulScaleBiasGeluAmax) {
  constexpr int64_t kB = 2, kM = 7, kK = 19, kN = 37;
  auto graph = float_graph();
  auto a = input(graph, "a", {kB, kM, kK});
  auto b = input(graph, "b", {1, kK, kN});
  auto bias = input(graph, "bias", {1, 1, kN});
  auto product = graph.matmul(a, b, graph::Matmul_attributes());
  auto scaled = graph.pointwise(product, graph.tensor(0.5f), mode(PointwiseMode_t::MUL));
  auto sum = graph.pointwise(scaled, bias, mode(PointwiseMode_t::ADD));
  auto y = graph.pointwise(sum, mode(PointwiseMode_t::GELU_FWD));
  keep(y, {kB, kM, kN});
  auto amax = graph.reduction(y, graph::Reduction_attributes().set_mode(ReductionMode_t::AMAX));
  keep(amax, {1, 1, 1});

  const Values a_values = spread_values(kB * kM * kK, 1), b_values = spread_values(kK * kN, 2);
  const Values bias_values = spread_values(kN, 3);
  Values expected;
  double greatest = 0;
  for (int64_t row = 0; row < kB * kM; ++row)
    for (int64_t n = 0; n < kN; ++n) {
      double dot = 0;
      for (int64_t k = 0; k < kK; ++k) dot += a_values[row * kK + k] * b_values[k * kN + n];
      const double x = 0.5 * dot + bias_values[n];
      expected.push_back(0.5 * x * (1 + std::erf(x / std::sqrt(2.0))));
      greatest = std::max(greatest, std::abs(expected.back()));
    }
  expect_every_plan(graph, {{a, a_values}, {b, b_values}, {bias, bias_values}},
                    {{y, expected}, {amax, {greatest}}});
}

TEST(Smoke, MatmulOfBytesSumsInIntegers) {
  constexpr int64_t kM = 5, kK = 33, kN = 18;
  graph::Graph graph;
  graph.set_io_data_type(DataType_t::INT8).set_compute_data_type(DataType_t::INT32);
  auto a = input(graph, "a", {1, kM, kK});
  auto b = input(graph, "b", {1, kK, kN});
  auto c = graph.matmul(a, b, graph::Matmul_attributes());
  keep(c, {1, kM, kN});
  c->set_data_type(DataType_t::INT32);

  Values a_values = spread_values(kM * kK, 1), b_values = spread_values(kK * kN, 2);
  for (double& value : a_values) value *= 128;
  for (double& value : b_values) value *= 128;
  Values expected;
  for (int64_t m = 0; m < kM; ++m)
    for (int64_t n = 0; n < kN; ++n) {
      double dot = 0;
      for (int64_t k = 0; k < kK; ++k) dot += a_values[m * kK + k] * b_values[k * kN + n];
      expected.push_back(dot);
    }
  expect_every_plan(graph, {{a, a_values}, {b, b_values}}, {{c, expected, Tolerance::exact()}});
}

}  // namespace
}  // namespace warploom::test
