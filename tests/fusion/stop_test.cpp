// A fusion that stops says why, in words that name what is in the way.
#include <chrono>

#include <gtest/gtest.h>

#include "fusion/graph_builder.h"
#include "fusion/group_checks.h"
#include "fusion/group_text.h"

namespace warploom::fusion_test {

namespace {

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << '"' << part << "\" is missing in\n" << text;
}

fusion::Partition fused(const GraphBuilder& builder) {
  const auto graph = builder.freeze();
  fusion::Partition partition = fusion::partitions(graph).front();
  check_partition(graph, partition);
  return partition;
}

std::string only_reason(const fusion::Partition& partition) {
  EXPECT_EQ(partition.stops.size(), 1u);
  return partition.stops.empty() ? "" : partition.stops[0].reason;
}

TEST(Stops, OtherDomain) {
  GraphBuilder g;
  const Id c = g.matmul(g.input({1, 8, 4}), g.input({1, 4, 1}), "matmul");
  g.output(g.add(c, g.input({1, 8, 16}), "add"));
  const std::string reason = only_reason(fused(g));
  expect_contains(reason, "ADD 'add'");
  expect_contains(reason, "[1, 8, 16]");
  expect_contains(reason, "'matmul::OUT' [1, 8, 1]");
}

TEST(Stops, TwoAnchors) {
  GraphBuilder g;
  const Id c = g.matmul(g.input({1, 8, 4}), g.input({1, 4, 4}), "first");
  g.output(g.matmul(c, g.input({1, 4, 4}), "second"));
  expect_contains(only_reason(fused(g)), "both anchors");
}

TEST(Stops, WaitingForItself) {
  GraphBuilder g;
  const Id x = g.pointwise(PointwiseMode_t::EXP, {g.input({8, 16})}, "exp");
  const Id sum = g.reduce(ReductionMode_t::ADD, x, {8, 1}, "sum");
  g.output(g.pointwise(PointwiseMode_t::DIV, {x, sum}, "divide"));
  const fusion::Partition partition = fused(g);
  ASSERT_EQ(partition.stops.size(), 2u);
  expect_contains(partition.stops[0].reason, "'sum::OUT' [8, 1]");
}

TEST(Stops, StoredChainIsNoPrologue) {
  GraphBuilder g;
  const Id a = g.output(g.relu(g.input({1, 8, 4}), "relu"));
  g.output(g.matmul(a, g.input({1, 4, 4}), "matmul"));
  const std::string reason = only_reason(fused(g));
  expect_contains(reason, "'relu::OUT'");
  expect_contains(reason, "output of the graph");
}

TEST(Stops, LongChainsAreCut) {
  GraphBuilder g;
  Id x = g.input({16, 16});
  const Id one = g.input({16, 16});
  for (int node = 0; node < 500; ++node) x = g.add(x, one);
  g.output(x);
  const auto graph = g.freeze();
  const auto start = std::chrono::steady_clock::now();
  const auto partitions = fusion::partitions(graph);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 1.0);  // a few milliseconds, on a machine that others do not load
  check_partition(graph, partitions.front());
  EXPECT_LE(partitions.front().groups.size(), 9u);
  for (const fusion::FusionGroup& group : partitions.front().groups) {
    EXPECT_LE(group.epilogue.values.size(), 64u);
    EXPECT_LE(group.inputs.size() + group.outputs.size(), 32u);
  }
  expect_contains(partitions.front().stops[0].reason, "64 is the bound");
}

TEST(Stops, ManyPointersAreCut) {
  GraphBuilder g;
  Id x = g.input({16});
  for (int node = 0; node < 50; ++node) x = g.add(x, g.input({16}));
  g.output(x);
  const fusion::Partition partition = fused(g);
  EXPECT_EQ(partition.groups.size(), 2u);
  expect_contains(only_reason(partition), "32 is the bound");
}

TEST(Stops, EmptyGraphHasNoGroups) {
  const auto partitions = fusion::partitions(GraphBuilder().freeze());
  ASSERT_EQ(partitions.size(), 1u);
  EXPECT_TRUE(partitions[0].groups.empty());
}

}  // namespace

}  // namespace warploom::fusion_test
