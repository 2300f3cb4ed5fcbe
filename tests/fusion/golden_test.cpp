// The groups of graphs that people use, as engines must be able to count on them.
#include <gtest/gtest.h>

#include "fusion/graph_builder.h"
#include "fusion/group_checks.h"
#include "fusion/group_text.h"

namespace warploom::fusion_test {

namespace {

using M = PointwiseMode_t;
using R = ReductionMode_t;

std::vector<fusion::Partition> checked(const GraphBuilder& builder) {
  const auto graph = builder.freeze();
  auto all = fusion::partitions(graph);
  EXPECT_LE(all.size(), 8u);
  for (const fusion::Partition& partition : all) check_partition(graph, partition);
  return all;
}

TEST(Golden, ConvBiasRelu) {
  GraphBuilder g;
  const Id y = g.conv(g.input({16, 64, 56, 56}), g.input({128, 64, 3, 3}), "conv");
  g.output(g.relu(g.add(y, g.input({1, 128, 1, 1}), "bias"), "relu"));
  const auto all = checked(g);
  EXPECT_EQ(text_of(all.front()), "conv: bias relu -> relu::OUT\n");
  EXPECT_EQ(text_of(all.back()), "conv -> conv::OUT\n: bias -> bias::OUT\n: relu -> relu::OUT\n");
  EXPECT_EQ(all.back().style, "single operations");
  // The only style in between: the convolution alone, the rest together.
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(text_of(all[1]), "conv -> conv::OUT\n: bias relu -> relu::OUT\n");
}

TEST(Golden, MatmulScaleBiasGeluAmax) {
  GraphBuilder g;
  const Id c = g.matmul(g.input({16, 512, 1024}), g.input({1, 1024, 512}), "matmul");
  const Id scaled = g.mul(c, g.scalar(0.5f), "scale");
  const Id biased = g.add(scaled, g.input({1, 1, 512}), "bias");
  const Id y = g.output(g.pointwise(M::GELU_FWD, {biased}, "gelu"));
  g.output(g.reduce(R::AMAX, y, {1, 1, 1}, "amax"));
  const auto all = checked(g);
  EXPECT_EQ(text_of(all.front()), "matmul: scale bias gelu | amax -> gelu::OUT amax::OUT\n");
  EXPECT_TRUE(all.front().stops.empty());
  const fusion::Expression& epilogue = all.front().groups[0].epilogue;
  EXPECT_TRUE(epilogue.values.back().is_rounded) << "the maximum is of what was stored";
  EXPECT_FALSE(epilogue.values.front().is_rounded);
}

TEST(Golden, AttentionIsOneGroup) {
  GraphBuilder g;
  const Dims dims{4, 16, 1024, 64};
  const auto [o, stats] = g.attention(g.input(dims), g.input(dims), g.input(dims), "sdpa");
  g.output(o);
  g.output(stats);
  EXPECT_EQ(text_of(checked(g).front()), "sdpa -> sdpa::OUT sdpa::Stats\n");
}

TEST(Golden, AttentionScaledAndItsStatsRead) {
  GraphBuilder g;
  const Dims dims{4, 16, 128, 64};
  const auto [o, stats] = g.attention(g.input(dims), g.input(dims), g.input(dims), "sdpa");
  g.output(g.mul(o, stats, "weigh"));
  g.output(g.relu(o, "relu"));
  // The product needs the statistics of whole rows: it cannot run inside.
  EXPECT_EQ(text_of(checked(g).front()),
            "sdpa: relu -> sdpa::OUT sdpa::Stats relu::OUT\n: weigh -> weigh::OUT\n");
}

TEST(Golden, PrologueOfMatmul) {
  GraphBuilder g;
  const Id x = g.input({4, 64, 32});
  const Id a = g.mul(g.add(x, g.input({1, 1, 32}), "shift"), g.scalar(2), "scale");
  g.output(g.matmul(a, g.input({4, 32, 16}), "matmul"));
  const auto all = checked(g);
  EXPECT_EQ(text_of(all.front()), "[shift scale>0] matmul -> matmul::OUT\n");
  EXPECT_EQ(text_of(all[1]), ": shift scale -> scale::OUT\nmatmul -> matmul::OUT\n");
}

TEST(Golden, ChainBetweenTwoContractionsIsTheFirstOnesEpilogue) {
  GraphBuilder g;
  const Id y = g.relu(g.conv(g.input({1, 8, 9, 9}), g.input({8, 8, 3, 3}), "conv1"), "relu");
  g.output(g.conv(y, g.input({4, 8, 1, 1}), "conv2"));
  EXPECT_EQ(text_of(checked(g).front()), "conv1: relu -> relu::OUT\nconv2 -> conv2::OUT\n");
}

TEST(Golden, SharedPrologueOfBothSides) {
  GraphBuilder g;
  const Id a = g.relu(g.input({2, 8, 8}), "relu");
  g.output(g.matmul(a, a, "gram"));
  EXPECT_EQ(text_of(checked(g).front()), "[relu>0] [relu>1] gram -> gram::OUT\n");
}

TEST(Golden, ScaledBiasIsComputedInside) {
  GraphBuilder g;
  const Id bias = g.mul(g.input({1, 1, 32}), g.scalar(3), "scaled bias");
  const Id c = g.matmul(g.input({4, 64, 16}), g.input({4, 16, 32}), "matmul");
  g.output(g.add(c, bias, "add"));
  EXPECT_EQ(text_of(checked(g).front()), "matmul: scaled bias add -> add::OUT\n");
}

TEST(Golden, ResidualChainJoinsItsReader) {
  GraphBuilder g;
  const Id residual = g.relu(g.input({4, 64, 32}), "residual");
  const Id c = g.matmul(g.input({4, 64, 16}), g.input({4, 16, 32}), "matmul");
  g.output(g.add(c, residual, "add"));
  EXPECT_EQ(text_of(checked(g).front()), "matmul: residual add -> add::OUT\n");
}

TEST(Golden, ReductionWithPrologueAndEpilogue) {
  GraphBuilder g;
  const Id x = g.input({8, 100});
  const Id sum = g.reduce(R::ADD, g.mul(x, x, "square"), {8, 1}, "sum");
  g.output(g.pointwise(M::SQRT, {g.mul(sum, g.scalar(0.01f), "mean")}, "root"));
  EXPECT_EQ(text_of(checked(g).front()), "[square>0] sum: mean root -> root::OUT\n");
}

TEST(Golden, ReductionOfStoredValuesIsAnOutput) {
  GraphBuilder g;
  const Id y = g.output(g.relu(g.add(g.input({8, 100}), g.input({1, 100}), "add"), "relu"));
  g.output(g.reduce(R::MAX, y, {8, 1}, "rows"));
  g.output(g.reduce(R::ADD, y, {1, 100}, "columns"));
  EXPECT_EQ(text_of(checked(g).front()),
            ": add relu | rows | columns -> relu::OUT rows::OUT columns::OUT\n");
}

TEST(Golden, LayerNormalization) {
  GraphBuilder g;
  const Id x = g.input({32, 768}, "x");
  const Id mean = g.reduce(R::AVG, x, {32, 1}, "mean");
  const Id centred = g.pointwise(M::SUB, {x, mean}, "centred");
  const Id variance = g.reduce(R::AVG, g.mul(centred, centred, "square"), {32, 1}, "variance");
  const Id scale =
      g.pointwise(M::RSQRT, {g.add(variance, g.scalar(1e-5f), "plus epsilon")}, "rsqrt");
  const Id y = g.mul(g.mul(centred, scale, "scaled"), g.input({1, 768}), "gamma");
  g.output(g.add(y, g.input({1, 768}), "beta"));
  const auto all = checked(g);
  // No tensor of x's size in the workspace: x - mean is computed twice.
  EXPECT_EQ(text_of(all[0]),
            "mean -> mean::OUT\n"
            "[centred square>0] variance: plus epsilon rsqrt -> rsqrt::OUT\n"
            ": centred scaled gamma beta -> beta::OUT\n");
  EXPECT_EQ(all[1].style, "nothing computed twice");
  EXPECT_EQ(text_of(all[1]),
            "mean -> mean::OUT\n"
            ": centred square | variance -> centred::OUT variance::OUT\n"
            ": plus epsilon rsqrt scaled gamma beta -> beta::OUT\n");
}

TEST(Golden, SoftmaxStoresTheExponentials) {
  GraphBuilder g;
  const Id x = g.input({32, 768}, "x");
  const Id shifted = g.pointwise(M::SUB, {x, g.reduce(R::MAX, x, {32, 1}, "max")}, "shift");
  const Id e = g.pointwise(M::EXP, {shifted}, "exp");
  g.output(g.pointwise(M::DIV, {e, g.reduce(R::ADD, e, {32, 1}, "sum")}, "divide"));
  EXPECT_EQ(text_of(checked(g).front()),
            "max -> max::OUT\n"
            ": shift exp | sum -> exp::OUT sum::OUT\n"
            ": divide -> divide::OUT\n");
}

TEST(Golden, ScaledBiasOfTwoMatmulsIsComputedInBoth) {
  GraphBuilder g;
  const Id bias = g.mul(g.input({1, 1, 32}), g.scalar(3), "bias");
  for (const char* name : {"first", "second"}) {
    const Id c = g.matmul(g.input({4, 64, 16}), g.input({4, 16, 32}), name);
    g.output(g.add(c, bias, std::string(name) + " add"));
  }
  EXPECT_EQ(text_of(checked(g).front()),
            "first: bias first add -> first add::OUT\n"
            "second: bias second add -> second add::OUT\n");
}

TEST(Golden, DeadBranchIsDropped) {
  GraphBuilder g;
  const Id y = g.output(g.relu(g.input({8}), "relu"));
  g.add(g.mul(y, y, "unused square"), y, "unused sum");
  const auto all = checked(g);
  EXPECT_EQ(text_of(all.front()), ": relu -> relu::OUT\n");
  ASSERT_EQ(all.front().stops.size(), 2u);
  EXPECT_EQ(all.front().stops[0].consumer, ir::kNoNode);
}

}  // namespace

}  // namespace warploom::fusion_test
