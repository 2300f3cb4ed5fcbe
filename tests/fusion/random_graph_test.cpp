// What must hold for any graph: groups are acyclic, complete and consistent, for every partition
// and for everything that splitting makes of it.
#include <gtest/gtest.h>

#include "fusion/group_checks.h"
#include "fusion/group_text.h"
#include "fusion/random_graph.h"

namespace warploom::fusion_test {

namespace {

/// Splits until single nodes remain; checks every step on the way.
void check_splits(const fusion::FusionGroup& group) {
  const std::vector<fusion::FusionGroup> pieces = fusion::split(group);
  if (group.nodes.size() == 1) {
    EXPECT_EQ(pieces.size(), 1u);
    return;
  }
  ASSERT_GT(pieces.size(), 1u) << group_text(group);
  std::vector<bool> available(group.graph->tensors.size());
  for (ir::TensorId input : group.inputs) available[static_cast<size_t>(input)] = true;
  check_order(pieces, {}, available, group.outputs);
  for (const fusion::FusionGroup& piece : pieces) {
    EXPECT_LT(piece.nodes.size(), group.nodes.size());
    check_group(piece);
    check_splits(piece);
  }
}

TEST(RandomGraphs, PartitionsAndSplitsAreConsistent) {
  for (uint32_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto graph = random_graph(seed, 3 + static_cast<int>(seed) % 40).freeze();
    const auto partitions = fusion::partitions(graph);
    ASSERT_LE(partitions.size(), 8u);
    for (const fusion::Partition& partition : partitions) {
      check_partition(graph, partition);
      for (const fusion::FusionGroup& group : partition.groups) check_splits(group);
    }
    for (const fusion::FusionGroup& group : partitions.back().groups)
      EXPECT_EQ(group.nodes.size(), 1u) << group_text(group);
    for (size_t a = 0; a < partitions.size(); ++a)
      for (size_t b = a + 1; b < partitions.size(); ++b)
        EXPECT_NE(text_of(partitions[a]), text_of(partitions[b]));
  }
}

TEST(RandomGraphs, FusingSavesKernels) {
  size_t fused = 0, single = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const auto partitions = fusion::partitions(random_graph(seed, 30).freeze());
    fused += partitions.front().groups.size();
    single += partitions.back().groups.size();
  }
  EXPECT_LT(fused * 3, single * 2);
}

}  // namespace

}  // namespace warploom::fusion_test
