// Movements that are views, and those that must copy.
#include <gtest/gtest.h>

#include "fusion/graph_builder.h"
#include "fusion/group_checks.h"
#include "fusion/group_text.h"

namespace warploom::fusion_test {

namespace {

fusion::Partition fused(const GraphBuilder& builder) {
  const auto graph = builder.freeze();
  fusion::Partition partition = fusion::partitions(graph).front();
  check_partition(graph, partition);
  return partition;
}

std::vector<ir::Shape> shapes_of(const GraphBuilder& builder) {
  std::vector<ir::Shape> shapes;
  const auto graph = builder.freeze();
  for (const ir::Tensor& tensor : graph->tensors) shapes.push_back(tensor.shape);
  return shapes;
}

TEST(Views, SliceOfATransposedInputResolvesToTheInput) {
  GraphBuilder g;
  const Id x = g.input({6, 8}, "x");
  const Id part = g.slice(g.transpose(x, {1, 0}, "transpose"), {{2, 5}, {1, 4}}, "slice");
  g.output(g.relu(part, "relu"));
  const fusion::Partition partition = fused(g);
  EXPECT_EQ(text_of(partition), ": relu -> relu::OUT\ntranspose::OUT = x\nslice::OUT = x\n");
  // Element (2, 1) of the transpose is element (1, 2) of x.
  EXPECT_EQ(fusion::view_offset(*g.freeze(), partition.aliases[1], shapes_of(g)), 1 * 8 + 2);
}

TEST(Views, OffsetFollowsTheShapesInUse) {
  GraphBuilder g;
  g.output(g.relu(g.slice(g.input({6, 8}), {{2, 5}, {1, 4}})));
  const fusion::Partition partition = fused(g);
  std::vector<ir::Shape> shapes = shapes_of(g);
  EXPECT_EQ(fusion::view_offset(*g.freeze(), partition.aliases[0], shapes), 2 * 8 + 1);
  shapes[0].strides = {100, 1};
  EXPECT_EQ(fusion::view_offset(*g.freeze(), partition.aliases[0], shapes), 2 * 100 + 1);
}

TEST(Views, SourceInsideTheGraphIsKeptInMemory) {
  GraphBuilder g;
  const Id c = g.matmul(g.input({1, 8, 4}), g.input({1, 4, 8}), "matmul");
  g.output(g.relu(g.slice(g.relu(c, "first"), {{0, 1}, {0, 4}, {0, 8}}, "slice"), "second"));
  EXPECT_EQ(text_of(fused(g)),
            "matmul: first -> first::OUT\n: second -> second::OUT\nslice::OUT = first::OUT\n");
}

TEST(Views, NothingFusesAroundAView) {
  GraphBuilder g;
  const Id x = g.relu(g.input({4, 4}), "relu");
  g.output(g.add(x, g.transpose(x, {1, 0}, "transpose"), "add"));
  // `add` needs all of `relu` transposed: one kernel would read what it has not written.
  EXPECT_EQ(text_of(fused(g)),
            ": relu -> relu::OUT\n: add -> add::OUT\ntranspose::OUT = relu::OUT\n");
}

TEST(Views, OutputsAreCopied) {
  GraphBuilder g;
  g.output(g.slice(g.input({6, 8}), {{2, 5}, {1, 4}}, "slice"));
  EXPECT_EQ(text_of(fused(g)), "slice -> slice::OUT\n");
}

TEST(Views, OtherDataTypeOrStridesAreCopied) {
  GraphBuilder g;
  const Id a = g.slice(g.input({6, 8}, "x", DataType_t::HALF), {{0, 6}, {0, 4}}, "slice");
  g.tensor(a).data_type = DataType_t::FLOAT;
  const Id b = g.transpose(g.input({6, 4}), {1, 0}, "transpose");
  g.tensor(b).shape.strides = {6, 1};
  g.output(g.relu(a, "relu a"));
  g.output(g.relu(b, "relu b"));
  EXPECT_EQ(text_of(fused(g)),
            "slice -> slice::OUT\ntranspose -> transpose::OUT\n"
            ": relu a -> relu a::OUT\n: relu b -> relu b::OUT\n");
}

TEST(Views, HostScalarsAreCopied) {
  GraphBuilder g;
  const Id s = g.reshape(g.scalar(2), {1, 1}, ReshapeMode_t::LOGICAL, "reshape");
  g.output(g.add(g.input({4, 4}), s, "add"));
  EXPECT_EQ(text_of(fused(g)), "reshape -> reshape::OUT\n: add -> add::OUT\n");
}

TEST(Views, LogicalReshapeOnlyBetweenRowMajorTensors) {
  GraphBuilder g;
  const Id x = g.input({6, 8}, "x");
  g.output(g.relu(g.reshape(x, {48}, ReshapeMode_t::LOGICAL, "flat"), "relu"));
  const Id y = g.input({6, 8}, "y");
  g.tensor(y).shape.strides = {1, 6};
  g.output(g.relu(g.reshape(y, {48}, ReshapeMode_t::LOGICAL, "gathered"), "other"));
  EXPECT_EQ(text_of(fused(g)),
            ": relu -> relu::OUT\ngathered -> gathered::OUT\n: other -> other::OUT\n"
            "flat::OUT = x\n");
}

}  // namespace

}  // namespace warploom::fusion_test
