// Equal signatures share kernels: they must not tell extents apart, and must tell all the rest.
#include <functional>

#include <gtest/gtest.h>

#include "fusion/graph_builder.h"
#include "fusion/partition.h"

namespace warploom::fusion_test {

namespace {

struct MatmulCase {
  int64_t batch = 4, m = 64, n = 32, k = 16;
  Dims bias = {1, 1, 32};
  PointwiseMode_t mode = PointwiseMode_t::ADD;
  DataType_t type = DataType_t::BFLOAT16;
  int64_t b_batch = 4;
  bool is_b_transposed = false;
  int64_t alignment = 16;
  bool is_stored = false;
  float clip = 0;
};

std::string signature_of(const MatmulCase& c) {
  GraphBuilder g;
  const Id a = g.input({c.batch, c.m, c.k}, "", c.type);
  const Id b = g.input({c.b_batch, c.k, c.n}, "", c.type);
  if (c.is_b_transposed) g.tensor(b).shape.strides = {c.k * c.n, 1, c.k};
  g.tensor(a).alignment = c.alignment;
  const Id sum = g.pointwise(c.mode, {g.matmul(a, b), g.input(c.bias)});
  if (c.is_stored) g.output(sum);
  g.output(g.relu(sum));
  ir::FrozenGraph graph = *g.freeze();
  std::get<graph::Pointwise_attributes>(graph.nodes[2].operation).set_relu_lower_clip(c.clip);
  const auto partitions =
      fusion::partitions(std::make_shared<const ir::FrozenGraph>(std::move(graph)));
  EXPECT_EQ(partitions[0].groups.size(), 1u);
  return fusion::signature(partitions[0].groups[0]);
}

TEST(Signature, IsTheSameForOtherExtents) {
  const std::string base = signature_of({});
  EXPECT_EQ(base, signature_of({}));
  EXPECT_EQ(base, signature_of(
                      {.batch = 7, .m = 1000, .n = 48, .k = 8, .bias = {1, 1, 48}, .b_batch = 7}));
  // Extents that happen to be equal to each other say nothing.
  EXPECT_EQ(base, signature_of({.batch = 32, .m = 32, .n = 32, .k = 32, .b_batch = 32}));
}

TEST(Signature, TellsEverythingElse) {
  const std::string base = signature_of({});
  const MatmulCase others[] = {
      {.bias = {4, 1, 32}},            // another broadcast
      {.bias = {32}},                  // another rank
      {.bias = {1, 1, 1}},             // a scalar
      {.mode = PointwiseMode_t::MUL},  // another operation
      {.type = DataType_t::HALF},      // another data type
      {.b_batch = 1},                  // B serves all batches
      {.is_b_transposed = true},       // another stride order
      {.alignment = 4},                // another alignment
      {.k = 17},                       // rows that are not aligned
      {.is_stored = true},             // one more output
      {.clip = 0.5f},                  // another attribute
  };
  std::vector<std::string> seen{base};
  for (const MatmulCase& other : others) {
    const std::string text = signature_of(other);
    for (const std::string& earlier : seen) EXPECT_NE(text, earlier);
    seen.push_back(text);
  }
}

std::string signature_of_reduction(Dims x, Dims y) {
  GraphBuilder g;
  g.output(g.reduce(ReductionMode_t::ADD, g.input(std::move(x)), std::move(y)));
  return fusion::signature(fusion::partitions(g.freeze())[0].groups[0]);
}

TEST(Signature, TellsWhichDimsAreReduced) {
  EXPECT_EQ(signature_of_reduction({8, 16, 32}, {8, 16, 1}),
            signature_of_reduction({4, 4, 64}, {4, 4, 1}));
  EXPECT_NE(signature_of_reduction({8, 16, 32}, {8, 16, 1}),
            signature_of_reduction({8, 16, 32}, {8, 1, 32}));
}

std::string signature_of_slice(int64_t start) {
  GraphBuilder g;
  g.output(g.slice(g.input({64, 64}), {{start, start + 8}, {0, 64}}));
  return fusion::signature(fusion::partitions(g.freeze())[0].groups[0]);
}

TEST(Signature, ExtentsInsideAttributesAreArguments) {
  EXPECT_EQ(signature_of_slice(0), signature_of_slice(32));
}

std::string signature_of_filter(int64_t groups) {
  GraphBuilder g;
  g.output(g.conv(g.input({1, 16, 8, 8}), g.input({16, 16 / groups, 3, 3})));
  return fusion::signature(fusion::partitions(g.freeze())[0].groups[0]);
}

TEST(Signature, TellsDenseGroupedAndDepthwiseConvolutions) {
  EXPECT_NE(signature_of_filter(1), signature_of_filter(4));
  EXPECT_NE(signature_of_filter(4), signature_of_filter(16));
  EXPECT_EQ(signature_of_filter(4), signature_of_filter(2));
}

}  // namespace

}  // namespace warploom::fusion_test
