// Attention written as single operations is one group.
#include <limits>

#include <gtest/gtest.h>

#include "fusion/graph_builder.h"
#include "fusion/group_checks.h"
#include "fusion/group_text.h"

namespace warploom::fusion_test {

namespace {

using M = PointwiseMode_t;
using R = ReductionMode_t;
using fusion::AnchorKind;

/// Q [2, 4, 8, 16], K [2, 2, 12, 16] transposed by a view, V [2, 2, 12, 6].
struct Attention {
  GraphBuilder g;
  Id q, k, v, scores;

  Attention() {
    q = g.input({2, 4, 8, 16}, "q");
    k = g.transpose(g.input({2, 2, 12, 16}, "k"), {0, 1, 3, 2}, "k_transposed");
    v = g.input({2, 2, 12, 6}, "v");
    scores = g.matmul(q, k, "scores");
  }
  Id written_out(Id x) {
    const Id exponential = g.pointwise(
        M::EXP, {g.pointwise(M::SUB, {x, g.reduce(R::MAX, x, {2, 4, 8, 1}, "max")}, "sub")}, "exp");
    return g.pointwise(M::DIV, {exponential, g.reduce(R::ADD, exponential, {2, 4, 8, 1}, "sum")},
                       "div");
  }
  std::vector<fusion::Partition> partitions() {
    const auto graph = g.freeze();
    auto all = fusion::partitions(graph);
    EXPECT_LE(all.size(), 8u);
    for (const fusion::Partition& partition : all) check_partition(graph, partition);
    return all;
  }
  /// The most fused partition's only group, which is an attention.
  void expect_one_group(size_t nodes) {
    const auto all = partitions();
    ASSERT_EQ(all.front().groups.size(), 1u) << text_of(all.front());
    const fusion::FusionGroup& group = all.front().groups[0];
    EXPECT_EQ(group.anchor_kind, AnchorKind::kComposedAttention);
    EXPECT_EQ(group.nodes.size(), nodes);
    ASSERT_TRUE(group.composed_attention);
    EXPECT_EQ(group.node(group.composed_attention->score_matmul).name, "scores");
    // Other partitions and whoever refuses the group run its parts.
    EXPECT_GT(all.back().groups.size(), 2u);
    EXPECT_GT(fusion::split(group).size(), 1u);
  }
  void expect_no_attention() {
    for (const fusion::Partition& partition : partitions())
      for (const fusion::FusionGroup& group : partition.groups)
        EXPECT_NE(group.anchor_kind, AnchorKind::kComposedAttention) << text_of(partition);
  }
};

TEST(ComposedAttention, SoftmaxAsAnOperation) {
  Attention a;
  a.g.output(a.g.matmul(a.g.softmax(a.scores, "softmax"), a.v, "out"));
  a.expect_one_group(3);
}

TEST(ComposedAttention, SoftmaxWrittenOut) {
  Attention a;
  const Id scaled = a.g.mul(a.scores, a.g.scalar(0.25f), "scale");
  a.g.output(a.g.matmul(a.written_out(scaled), a.v, "out"));
  a.expect_one_group(8);
}

TEST(ComposedAttention, ScaleBiasAndMaskInEitherOrder) {
  for (bool mask_first : {false, true}) {
    Attention a;
    GraphBuilder& g = a.g;
    const Id bias = g.input({1, 4, 8, 12}, "bias");
    const auto masked = [&](Id x) {
      const Id is_seen =
          g.pointwise(M::CMP_GE, {g.index(x, 2, "row"), g.index(x, 3, "key")}, "seen");
      g.tensor(is_seen).data_type = DataType_t::BOOLEAN;
      return g.pointwise(M::BINARY_SELECT,
                         {x, g.scalar(-std::numeric_limits<float>::infinity()), is_seen}, "mask");
    };
    const auto scaled = [&](Id x) { return g.mul(x, g.scalar(0.25f), "scale"); };
    Id x = mask_first ? scaled(masked(a.scores)) : masked(scaled(a.scores));
    x = g.add(x, bias, "bias");
    const Id o = g.matmul(g.softmax(x, "softmax"), a.v, "out");
    g.output(g.relu(g.mul(o, g.scalar(2.0f), "double"), "relu"));  // its epilogue
    a.expect_one_group(11);
  }
}

TEST(ComposedAttention, StoredIntermediatesAreNotFused) {
  for (int stored : {0, 1, 2}) {
    Attention a;
    if (stored == 0) a.g.output(a.scores);
    const Id scaled = a.g.mul(a.scores, a.g.scalar(0.25f), "scale");
    if (stored == 1) a.g.output(scaled);
    const Id p = a.g.softmax(scaled, "softmax");
    if (stored == 2) a.g.output(p);
    a.g.output(a.g.matmul(p, a.v, "out"));
    a.expect_no_attention();
  }
}

TEST(ComposedAttention, WhatOthersReadIsNotFused) {
  Attention a;
  const Id p = a.g.softmax(a.scores, "softmax");
  a.g.output(a.g.matmul(p, a.v, "out"));
  a.g.output(a.g.reduce(R::AMAX, p, {1, 1, 1, 1}, "amax"));
  a.expect_no_attention();
}

// A mask that somebody else needs too is read from memory.
TEST(ComposedAttention, SharedMasksStayOutside) {
  Attention a;
  const Id mask = a.g.mul(a.g.input({2, 4, 8, 12}, "x"), a.g.input({2, 4, 8, 12}, "y"), "mask");
  a.g.output(mask);
  a.g.output(a.g.matmul(a.g.softmax(a.g.add(a.scores, mask, "add"), "softmax"), a.v, "out"));
  const auto all = a.partitions();
  ASSERT_EQ(all.front().groups.size(), 2u) << text_of(all.front());
  EXPECT_EQ(all.front().groups[1].anchor_kind, AnchorKind::kComposedAttention);
}

TEST(ComposedAttention, OtherSoftmaxesAreNone) {
  {  // over another axis
    Attention a;
    const Id exponential = a.g.pointwise(
        M::EXP,
        {a.g.pointwise(M::SUB, {a.scores, a.g.reduce(R::MAX, a.scores, {2, 4, 1, 12}, "max")},
                       "sub")},
        "exp");
    const Id p = a.g.pointwise(
        M::DIV, {exponential, a.g.reduce(R::ADD, exponential, {2, 4, 1, 12}, "sum")}, "div");
    a.g.output(a.g.matmul(p, a.v, "out"));
    a.expect_no_attention();
  }
  {  // of one tensor, divided by the sum of another
    Attention a;
    const Id maximum = a.g.reduce(R::MAX, a.scores, {2, 4, 8, 1}, "max");
    const Id one =
        a.g.pointwise(M::EXP, {a.g.pointwise(M::SUB, {a.scores, maximum}, "sub")}, "exp");
    const Id two =
        a.g.pointwise(M::EXP, {a.g.pointwise(M::SUB, {a.scores, maximum}, "sub2")}, "exp2");
    const Id p = a.g.pointwise(M::DIV, {one, a.g.reduce(R::ADD, two, {2, 4, 8, 1}, "sum")}, "div");
    a.g.output(a.g.matmul(p, a.v, "out"));
    a.expect_no_attention();
  }
}

}  // namespace

}  // namespace warploom::fusion_test
