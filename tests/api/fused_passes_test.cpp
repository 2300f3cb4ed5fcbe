// A fused graph is one pass over memory: one kernel, and no tensor of the graph in the workspace.
#include <gtest/gtest.h>

#include <algorithm>

#include <warploom/frozen_graph.h>
#include <warploom/graph.h>

#include "harness/layout.h"

namespace warploom {
namespace {

using namespace graph;

Graph float_graph() {
  Graph g;
  g.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
  g.set_compute_data_type(DataType_t::FLOAT);
  return g;
}

Tensor_attributes described(const char* name, const std::vector<int64_t>& dims,
                            const char* layout = "row_major") {
  return Tensor_attributes().set_name(name).set_dim(dims).set_stride(
      test::strides_of_layout(layout, dims));
}

Pointwise_attributes mode(PointwiseMode_t value) {
  return Pointwise_attributes().set_mode(value);
}

/// What explain() says is in the workspace: the lines of that section.
std::string workspace_section(const std::string& text) {
  const size_t begin = text.find("-- Workspace");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find("\n-- ", begin) - begin);
}

/// One kernel, and nothing in the workspace that is a virtual tensor or as large as one.
void expect_one_pass(Graph& g) {
  const auto handle = create_handle();
  const error_t error = g.build(handle.get(), {HeurMode_t::A});
  ASSERT_TRUE(error.is_good()) << error.get_message();
  const PlanInfo plan = g.plans().front();
  EXPECT_EQ(plan.groups.size(), 1u) << g.explain();
  const std::string workspace = workspace_section(g.explain());
  for (const ir::Tensor& tensor : g.frozen()->tensors) {
    if (!tensor.is_virtual) continue;
    EXPECT_EQ(workspace.find(tensor.name), std::string::npos) << workspace;
    EXPECT_LT(plan.workspace_bytes, tensor.shape.volume() * int64_t{sizeof(float)}) << workspace;
  }
}

/// The same operations with every result an output: as many kernels as operations, which is what
/// the count above would be if nothing fused.
void expect_a_pass_each(Graph& g, size_t operations) {
  const auto handle = create_handle();
  ASSERT_TRUE(g.build(handle.get(), {HeurMode_t::A}).is_good());
  const std::vector<PlanInfo> plans = g.plans();
  EXPECT_TRUE(std::ranges::any_of(
      plans, [&](const PlanInfo& plan) { return plan.groups.size() == operations; }));
}

void describe_convolution(Graph& g) {
  const auto x = g.tensor(described("X", {4, 64, 56, 56}, "channels_last"));
  const auto w = g.tensor(described("W", {128, 64, 3, 3}, "channels_last"));
  const auto bias = g.tensor(described("bias", {1, 128, 1, 1}));
  const auto y = g.conv_fprop(
      x, w, Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  g.pointwise(g.pointwise(y, bias, mode(PointwiseMode_t::ADD)), mode(PointwiseMode_t::RELU_FWD))
      ->set_output(true);
}

TEST(FusedPasses, ConvolutionBiasReLU) {
  Graph g = float_graph();
  describe_convolution(g);
  expect_one_pass(g);
}

TEST(FusedPasses, UnfusedPlansTakeAPassForEachOperation) {
  Graph g = float_graph();
  describe_convolution(g);
  expect_a_pass_each(g, 3);
}

TEST(FusedPasses, MatmulScaleBiasGeluAmax) {
  Graph g = float_graph();
  const auto a = g.tensor(described("A", {16, 128, 256})),
             b = g.tensor(described("B", {1, 256, 512}));
  auto value = g.pointwise(g.matmul(a, b, Matmul_attributes()), g.tensor(0.125f),
                           mode(PointwiseMode_t::MUL));
  value = g.pointwise(value, g.tensor(described("bias", {1, 1, 512})), mode(PointwiseMode_t::ADD));
  value = g.pointwise(value, mode(PointwiseMode_t::GELU_FWD));
  value->set_output(true);
  g.reduction(value, Reduction_attributes().set_mode(ReductionMode_t::AMAX))
      ->set_output(true)
      .set_dim({1, 1, 1})
      .set_stride({1, 1, 1});
  expect_one_pass(g);
}

TEST(FusedPasses, CausalAttentionHoldsNoScores) {
  Graph g = float_graph();
  const std::vector<int64_t> dims{1, 4, 1024, 64};
  const auto [o, stats] = g.sdpa(
      g.tensor(described("Q", dims)), g.tensor(described("K", dims)),
      g.tensor(described("V", dims)),
      SDPA_attributes().set_causal_mask(true).set_generate_stats(false).set_attn_scale(0.125f));
  o->set_output(true).set_dim(dims).set_stride(test::strides_of_layout("row_major", dims));
  expect_one_pass(g);
  constexpr int64_t kScoreBytes = 4 * 1024 * 1024 * int64_t{sizeof(float)};
  EXPECT_LT(g.get_workspace_size(), kScoreBytes);
}

}  // namespace
}  // namespace warploom
