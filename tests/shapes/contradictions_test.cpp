// Overrides that contradict each other or the plan: an error that names what is wrong, and nothing
// is written.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/describe.h"
#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

/// relu(A B + bias), and a sum over its rows that is virtual but for its square.
struct Product {
  graph::Graph graph = describe();
  graph::TensorPtr a, b, bias, c, y;

  explicit Product(bool is_enabled = true, int64_t batch = 2) {
    graph.set_override_shape_enabled(is_enabled);
    a = input(graph, "A", {batch, 8, 16});
    b = input(graph, "B", {1, 16, 12});
    bias = input(graph, "bias", {1, 1, 12});
    c = graph.matmul(a, b, graph::Matmul_attributes().set_name("product"));
    y = graph.pointwise(graph.pointwise(c, bias, pointwise(PointwiseMode_t::ADD).set_name("add")),
                        pointwise(PointwiseMode_t::RELU_FWD).set_name("relu"));
    y->set_name("Y");
    output(y);
    EXPECT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
  }

  struct Override {
    int64_t uid;
    Dims dims, strides;
  };

  /// Runs with memory for far more than any shape here; tells whether Y was touched.
  error_t run(const std::vector<Override>& overrides) {
    std::vector<int64_t> uids;
    std::vector<Dims> dims, strides;
    for (const Override& each : overrides) {
      uids.push_back(each.uid);
      dims.push_back(each.dims);
      strides.push_back(each.strides);
    }
    return run(uids, dims, strides);
  }
  error_t run(const std::vector<int64_t>& uids, const std::vector<Dims>& dims,
              const std::vector<Dims>& strides) {
    std::vector<float> in(100000, 1.0f);
    std::fill(out.begin(), out.end(), -1.0f);
    std::vector<char> workspace(1 << 20);
    std::unordered_map<int64_t, void*> pack{{a->get_uid(), in.data()},
                                            {b->get_uid(), in.data()},
                                            {bias->get_uid(), in.data()},
                                            {y->get_uid(), out.data()}};
    return graph.execute(cpu(), pack, workspace.data(), static_cast<int64_t>(workspace.size()),
                         uids, dims, strides);
  }
  bool is_untouched() const {
    return std::ranges::all_of(out, [](float value) { return value == -1.0f; });
  }
  std::vector<float> out = std::vector<float>(100000);
};

void expect_refused(Product& product, const error_t& error, const std::vector<std::string>& parts) {
  EXPECT_TRUE(error.is_bad());
  for (const std::string& part : parts)
    EXPECT_NE(error.err_msg.find(part), std::string::npos) << error << "\nlacks: " << part;
  EXPECT_TRUE(product.is_untouched());
}

TEST(Contradictions, AreNamed) {
  Product p;
  const int64_t a = p.a->get_uid(), b = p.b->get_uid(), y = p.y->get_uid();
  // The output is not listed, or not all that change are.
  expect_refused(p, p.run({{a, {2, 5, 16}, {80, 16, 1}}}), {"\"Y\"", "dim 1", "8", "5"});
  expect_refused(p, p.run({{y, {2, 5, 12}, {60, 12, 1}}}), {"\"Y\"", "dim 1", "5", "8"});
  expect_refused(p, p.run({{a, {2, 8, 20}, {160, 20, 1}}}), {"\"B\"", "16", "20"});
  // Ranks, uids, lengths of lists.
  expect_refused(p, p.run({{a, {8, 16}, {16, 1}}}), {"\"A\"", "2 dims", "3 of each"});
  expect_refused(p, p.run({{a, {2, 8, 16}, {16, 1}}}), {"\"A\"", "2 strides", "3 of each"});
  expect_refused(p, p.run({{99, {1}, {1}}}), {"uid 99", "no tensor", "one of"});
  expect_refused(p, p.run({{p.c->get_uid(), {2, 8, 12}, {96, 12, 1}}}),
                 {"product::C", "virtual", "one of"});
  expect_refused(p, p.run({{a, {2, 8, 16}, {128, 16, 1}}, {a, {2, 8, 16}, {128, 16, 1}}}),
                 {"two shapes", "one"});
  expect_refused(p, p.run({a}, {{2, 8, 16}}, {}), {"1 uids", "0 strides", "as many"});
  // Extents by themselves.
  expect_refused(p, p.run({{a, {2, -8, 16}, {128, 16, 1}}}), {"\"A\"", "dim 1", "-8", "0 or more"});
  expect_refused(p, p.run({{a, {2, 8, 16}, {128, -16, 1}}}), {"\"A\"", "stride 1", "-16"});
  expect_refused(p, p.run({{y, {2, 8, 12}, {0, 12, 1}}}), {"\"Y\"", "strides", "every element"});
  expect_refused(p, p.run({{b, {1, int64_t{1} << 40, int64_t{1} << 40}, {1, 1, 1}}}), {"\"B\""});
  // What was 1 for one and not for the others.
  expect_refused(p,
                 p.run({{b, {2, 16, 12}, {192, 12, 1}},
                        {a, {3, 8, 16}, {128, 16, 1}},
                        {y, {3, 8, 12}, {96, 12, 1}}}),
                 {"\"B\"", "dim 0", "2"});
  // After all that the plan still serves.
  EXPECT_TRUE(p.run(std::vector<Product::Override>{}).is_good());
  EXPECT_FALSE(p.is_untouched());
}

TEST(Contradictions, WithoutTheSwitchTheCallSaysSo) {
  Product p(false);
  int64_t bytes = 0;
  std::unordered_map<int64_t, void*> pack;
  for (const error_t& error : {p.run({{p.a->get_uid(), {2, 8, 16}, {128, 16, 1}}}),
                               p.graph.get_workspace_size(bytes, {}, {}, {}),
                               p.graph.execute_plan_at_index(cpu(), pack, nullptr, 0, {}, {}, {})})
    expect_refused(p, error, {"set_override_shape_enabled(true)"});
}

// One batch described, several run: every tensor along it follows.
TEST(Contradictions, ABatchOfOneMayGrow) {
  Product p(true, 1);
  ASSERT_TRUE(
      p.run({{p.a->get_uid(), {4, 8, 16}, {128, 16, 1}}, {p.y->get_uid(), {4, 8, 12}, {96, 12, 1}}})
          .is_good());
  for (int i = 0; i < 4 * 8 * 12; ++i) ASSERT_EQ(p.out[i], 17.0f);
  EXPECT_EQ(p.out[4 * 8 * 12], -1.0f);
}

TEST(Contradictions, EmptyTensorsRun) {
  Product p;
  EXPECT_TRUE(
      p.run({{p.a->get_uid(), {2, 0, 16}, {16, 16, 1}}, {p.y->get_uid(), {2, 0, 12}, {12, 12, 1}}})
          .is_good());
  EXPECT_TRUE(p.is_untouched());
  // A sum over nothing is 0: what is left is the bias.
  ASSERT_TRUE(
      p.run({{p.a->get_uid(), {2, 8, 0}, {8, 1, 1}}, {p.b->get_uid(), {1, 0, 12}, {12, 12, 1}}})
          .is_good());
  for (int i = 0; i < 2 * 8 * 12; ++i) ASSERT_EQ(p.out[i], 1.0f);
}

// Whether a virtual sum over an axis of one stays a sum is not known once the axis grows.
TEST(Contradictions, AReductionOfOneIsAmbiguous) {
  graph::Graph graph = describe();
  graph.set_override_shape_enabled(true);
  const auto x = input(graph, "X", {1, 8, 16});
  const auto sum = graph.reduction(x, reduction(ReductionMode_t::ADD).set_name("sum"));
  sum->set_dim({1, 8, 1}).set_stride({8, 1, 1});
  const auto y = graph.pointwise(sum, pointwise(PointwiseMode_t::SQRT).set_name("root"));
  y->set_name("Y");
  output(y);
  ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
  int64_t bytes = 0;
  const error_t error = graph.get_workspace_size(
      bytes, {x->get_uid(), y->get_uid()}, {{4, 8, 16}, {4, 8, 1}}, {{128, 16, 1}, {8, 1, 1}});
  EXPECT_EQ(error.code, error_code_t::SHAPE_DEDUCTION_FAILED) << error;
  EXPECT_NE(error.err_msg.find("\"X\" (port X), dim 0: found 4, accepted 1"), std::string::npos)
      << error;
}

TEST(Contradictions, AWorkspaceTooSmallForTheShapesIsRefused) {
  Product p;
  const std::vector<int64_t> uids{p.a->get_uid(), p.b->get_uid(), p.bias->get_uid(),
                                  p.y->get_uid()};
  const std::vector<Dims> dims{{2, 80, 160}, {1, 160, 120}, {1, 1, 120}, {2, 80, 120}};
  const std::vector<Dims> strides{{12800, 160, 1}, {19200, 120, 1}, {120, 120, 1}, {9600, 120, 1}};
  int64_t bytes = 0;
  ASSERT_TRUE(p.graph.get_workspace_size(bytes, uids, dims, strides).is_good());
  ASSERT_GT(bytes, p.graph.get_workspace_size());
  std::vector<float> in(100000, 1.0f);
  std::fill(p.out.begin(), p.out.end(), -1.0f);
  GuardedBuffer workspace(bytes);
  std::unordered_map<int64_t, void*> pack{
      {uids[0], in.data()}, {uids[1], in.data()}, {uids[2], in.data()}, {uids[3], p.out.data()}};
  const error_t error =
      p.graph.execute(cpu(), pack, workspace.data(), bytes - 1, uids, dims, strides);
  expect_refused(p, error, {std::to_string(bytes), std::to_string(bytes - 1)});
  EXPECT_TRUE(p.graph.execute(cpu(), pack, workspace.data(), bytes, uids, dims, strides).is_good());
  EXPECT_TRUE(workspace.guards_are_intact());
  EXPECT_EQ(p.out[0], 161.0f);
}

}  // namespace
}  // namespace warploom::test
