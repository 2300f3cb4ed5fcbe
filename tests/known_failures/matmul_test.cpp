// Failures known of other libraries' products; README.md says where each comes from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/describe.h"
#include "harness/element.h"
#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

using enum DataType_t;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// [batch, M, K] by [batch or 1, K, N].
Values product(const Values& a, const Dims& dims_a, const Values& b, const Dims& dims_b) {
  const int64_t batch = std::max(dims_a[0], dims_b[0]);
  return generate({batch, dims_a[1], dims_b[2]}, [&](const Dims& at) {
    double sum = 0;
    for (int64_t k = 0; k < dims_a[2]; ++k)
      sum += View(a, dims_a)(dims_a[0] == 1 ? 0 : at[0], at[1], k) *
             View(b, dims_b)(dims_b[0] == 1 ? 0 : at[0], k, at[2]);
    return sum;
  });
}

struct Product {
  graph::Graph graph;
  graph::TensorPtr a, b, c;
  Values values_a, values_b, values_c;
  Inputs inputs() const { return {{a, values_a}, {b, values_b}}; }
};

Product multiply(const Dims& dims_a, const Dims& dims_b, DataType_t type = FLOAT,
                 const std::string& layout_a = "row_major",
                 const std::string& layout_b = "row_major") {
  Product p;
  p.graph = describe(type, type == DOUBLE ? DOUBLE : FLOAT);
  p.a = input(p.graph, "A", dims_a, layout_a);
  p.b = input(p.graph, "B", dims_b, layout_b);
  p.c = p.graph.matmul(p.a, p.b, graph::Matmul_attributes().set_name("matmul"));
  p.values_a = random_values(dims_a, type, 1);
  p.values_b = random_values(dims_b, type, 2);
  p.values_c = product(p.values_a, dims_a, p.values_b, dims_b);
  return p;
}

void check(Product&& p) {
  output(p.c);
  expect_every_plan(p.graph, p.inputs(), {{p.c, p.values_c}});
}

TEST(KnownFailures, B92_ExtentsOfOneWithAnyStride) {
  const std::tuple<int64_t, int64_t, int64_t> extents[] = {
      {1, 9, 8}, {9, 1, 8}, {9, 8, 1}, {1, 1, 8}, {1, 9, 1}, {9, 1, 1}, {1, 1, 1}};
  for (const auto& [m, n, k] : extents) {
    for (const char* layout_a : {"row_major", "column_major", "odd_ones"})
      for (const char* layout_b : {"column_major", "odd_ones"})
        check(multiply({1, m, k}, {1, k, n}, FLOAT, layout_a, layout_b));
    // Both strides 1.
    Product p = multiply({1, m, k}, {1, k, n});
    if (m == 1 || k == 1) p.a->set_stride({1, 1, 1});
    if (n == 1 || k == 1) p.b->set_stride({1, 1, 1});
    check(std::move(p));
  }
}

TEST(KnownFailures, B93_BiasShapes) {
  const Dims all{2, 19, 34};
  for (const Dims& dims : {Dims{1, 1, 34}, Dims{1, 19, 1}, Dims{2, 1, 1}, all, Dims{1, 1, 1}}) {
    Product p = multiply({2, 19, 10}, {2, 10, 34});
    const auto bias = input(p.graph, "bias", dims);
    const auto sum = p.graph.pointwise(p.c, bias, pointwise(PointwiseMode_t::ADD));
    output(sum);
    const Values values = random_values(dims, FLOAT, 3);
    Inputs inputs = p.inputs();
    inputs.emplace_back(bias, values);
    expect_every_plan(p.graph, inputs, {{sum, generate(all, [&](const Dims& at) {
                                           return View(p.values_c, all)(at[0], at[1], at[2]) +
                                                  View(values, dims)(at[0] % dims[0],
                                                                     at[1] % dims[1],
                                                                     at[2] % dims[2]);
                                         })}});
  }
}

TEST(KnownFailures, B94_BatchBroadcast) {
  check(multiply({1, 9, 12}, {8, 12, 17}));
  check(multiply({8, 9, 12}, {1, 12, 17}));
  // The same by a stride of 0.
  Product p = multiply({8, 9, 12}, {8, 12, 17});
  p.a->set_stride({0, 12, 1});
  for (size_t i = 0; i < p.values_a.size(); ++i) p.values_a[i] = p.values_a[i % (9 * 12)];
  p.values_c = product(p.values_a, {8, 9, 12}, p.values_b, {8, 12, 17});
  check(std::move(p));
}

TEST(KnownFailures, B96_OddInnerExtents) {
  for (const int64_t k : {1, 13, 103, 127, 576})
    for (const int64_t n : {1, 7, 65}) {
      check(multiply({1, 9, k}, {1, k, n}, BFLOAT16));
      Product p = multiply({1, 9, k}, {1, k, n}, FP8_E4M3);
      p.c->set_data_type(FLOAT);
      check(std::move(p));
    }
}

// The sum is beyond half, 65504; scaled it is not.
TEST(KnownFailures, B97_SumsOfEightBitFloatsBeyondHalf) {
  for (const DataType_t type : {FP8_E4M3, FP8_E5M2}) {
    graph::Graph graph = describe(HALF);
    graph.set_intermediate_data_type(HALF);
    const auto a = input(graph, "A", {1, 5, 64}, "row_major", type);
    const auto b = input(graph, "B", {1, 64, 3}, "column_major", type);
    const auto scale = input(graph, "scale", {1, 1, 1}, "row_major", FLOAT);
    const auto c = graph.matmul(a, b, graph::Matmul_attributes());
    const auto y = graph.pointwise(c, scale, pointwise(PointwiseMode_t::MUL));
    output(y);
    expect_every_plan(graph,
                      {{a, Values(5 * 64, 448)}, {b, Values(64 * 3, 448)}, {scale, {1.0 / 512}}},
                      {{y, Values(5 * 3, 64 * 448.0 * 448 / 512), Tolerance::exact()}});
  }
}

// The two forms of GELU are two operations.
TEST(KnownFailures, B98_GeluErfIsNotGeluTanh) {
  const struct {
    PointwiseMode_t mode;
    double at_half, at_four;
  } forms[] = {{PointwiseMode_t::GELU_FWD, -0.154269, -1.26685e-4},
               {PointwiseMode_t::GELU_APPROX_TANH_FWD, -0.154286, -7.02459e-5}};
  for (const auto& form : forms) {
    graph::Graph graph = describe();
    // A product with 1 in front, so that it is an epilogue too.
    const auto a = input(graph, "A", {1, 2, 1});
    const auto b = input(graph, "B", {1, 1, 1});
    const auto c = graph.matmul(a, b, graph::Matmul_attributes());
    const auto gelu = graph.pointwise(c, pointwise(form.mode));
    output(gelu);
    expect_every_plan(graph, {{a, {-0.5, -4}}, {b, {1}}},
                      {{gelu, {form.at_half, form.at_four}, Tolerance{2e-5, 0}}});
  }
}

struct WithAmax {
  Product product;
  graph::TensorPtr y, amax;
};

WithAmax product_and_amax(int64_t m, int64_t n, float added) {
  WithAmax w{multiply({1, m, 20}, {1, 20, n}), nullptr, nullptr};
  graph::Graph& graph = w.product.graph;
  w.y = graph.pointwise(w.product.c, graph.tensor(added), pointwise(PointwiseMode_t::ADD));
  output(w.y);
  w.amax = graph.reduction(w.y, reduction(ReductionMode_t::AMAX));
  output(w.amax, {1, 1, 1}, "row_major");
  return w;
}

double greatest_magnitude(const Values& values) {
  double greatest = 0;
  for (double value : values) {
    if (std::isnan(value)) return kNaN;
    greatest = std::max(greatest, std::fabs(value));
  }
  return greatest;
}

void check_amax(WithAmax& w, double added) {
  Values expected = w.product.values_c;
  for (double& value : expected) value += added;
  expect_every_plan(w.product.graph, w.product.inputs(),
                    {{w.y, expected}, {w.amax, {greatest_magnitude(expected)}}});
}

// Lanes beyond the edge of the matrix hold 0 + 1 after the epilogue; the answer is below that.
TEST(KnownFailures, B100_AmaxDoesNotCountPadding) {
  WithAmax w = product_and_amax(13, 21, 1.0f);
  const Dims dims_a{1, 13, 20}, dims_b{1, 20, 21};
  w.product.values_a = random_values(dims_a, FLOAT, 1, -0.21, -0.19);
  w.product.values_b = random_values(dims_b, FLOAT, 2, 0.1, 0.12);
  w.product.values_c = product(w.product.values_a, dims_a, w.product.values_b, dims_b);
  check_amax(w, 1.0);
}

TEST(KnownFailures, B100_AmaxOfNegativeNumbers) {
  WithAmax w = product_and_amax(7, 33, -50.0f);
  check_amax(w, -50.0);
}

TEST(KnownFailures, B100_AmaxOfZeros) {
  WithAmax w = product_and_amax(7, 33, 0.0f);
  w.product.values_a.assign(w.product.values_a.size(), 0.0);
  w.product.values_c.assign(w.product.values_c.size(), 0.0);
  check_amax(w, 0.0);
}

TEST(KnownFailures, B100_AmaxOfNaN) {
  WithAmax w = product_and_amax(9, 17, 0.0f);
  w.product.values_a[5 * 20 + 3] = kNaN;
  w.product.values_c = product(w.product.values_a, {1, 9, 20}, w.product.values_b, {1, 20, 17});
  check_amax(w, 0.0);
}

// The maximum of a run is of its own data, not of an earlier run into the same memory.
TEST(KnownFailures, B100_AmaxForgetsTheRunBefore) {
  WithAmax w = product_and_amax(9, 17, 0.0f);
  graph::Graph& graph = w.product.graph;
  ASSERT_TRUE(build_every_plan(graph, cpu()).is_good());
  std::vector<float> a(180, 4.0f), b(340, 1.0f), y(9 * 17);
  float amax = 0;
  std::unordered_map<graph::TensorPtr, void*> pack{
      {w.product.a, a.data()}, {w.product.b, b.data()}, {w.y, y.data()}, {w.amax, &amax}};
  for (int64_t plan = 0; plan < graph.get_execution_plan_count(); ++plan) {
    GuardedBuffer workspace(graph.get_workspace_size_plan_at_index(plan));
    for (const float value : {4.0f, 0.5f}) {
      std::fill(a.begin(), a.end(), value);
      ASSERT_TRUE(graph.execute_plan_at_index(cpu(), pack, workspace.data(), plan).is_good());
      EXPECT_EQ(amax, 20 * value) << "plan " << plan;
    }
  }
}

TEST(KnownFailures, B102_DoubleProduct) {
  check(multiply({2, 17, 31}, {2, 31, 23}, DOUBLE));
}

}  // namespace
}  // namespace warploom::test
