#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "cpu/engine_runner.h"
#include "cpu/group_builder.h"

namespace warploom::test {
namespace {

using fusion::AnchorKind;

/// Launches one bound kernel from 8 threads at once, each with its own workspace and output.
void check_shared(const std::string& name, const fusion::FusionGroup& group,
                  std::vector<std::vector<float>> inputs, size_t output_size) {
  const auto engine = cpu_engine(name);
  const Device device = cpu_device(2);
  auto candidates = engine->candidates(group, device);
  ASSERT_TRUE(candidates.is_good());
  auto kernel = engine->build(group, candidates.value().front(), device);
  ASSERT_TRUE(kernel.is_good());
  std::vector<ir::Shape> shapes;
  for (const ir::Tensor& tensor : group.graph->tensors) shapes.push_back(tensor.shape);
  auto bound = kernel.value()->bind(shapes);
  ASSERT_TRUE(bound.is_good());
  kernel = engine->build(group, candidates.value().front(), device);  // the first may go

  auto run = [&](std::vector<float>& output) {
    GuardedBuffer workspace(bound.value()->workspace_bytes());
    std::vector<void*> pointers;
    for (auto& input : inputs) pointers.push_back(input.data());
    pointers.push_back(output.data());
    return bound.value()->launch(nullptr, pointers, workspace.data()).is_good() &&
           workspace.guards_are_intact();
  };
  std::vector<float> expected(output_size, -1);
  ASSERT_TRUE(run(expected));
  std::vector<std::thread> threads;
  std::vector<int> is_right(8, 1);
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        std::vector<float> output(output_size, -1);
        if (!run(output) || std::memcmp(output.data(), expected.data(), output_size * 4) != 0)
          is_right[t] = 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(is_right, std::vector<int>(8, 1));
}

std::vector<float> numbers(int64_t count, uint64_t seed) {
  const Values values = random_values(count, seed);
  return {values.begin(), values.end()};
}

TEST(CpuThreads, MatmulFromEightThreads) {
  GroupBuilder builder;
  const auto a = builder.stored("A", DataType_t::FLOAT, {4, 96, 64});
  const auto b = builder.stored("B", DataType_t::FLOAT, {4, 64, 130});
  const auto c = builder.stored("C", DataType_t::FLOAT, {4, 96, 130});
  builder.anchor(AnchorKind::kContraction, graph::Matmul_attributes(), {a, b}, {c});
  builder.begin_epilogue(c);
  builder.store(builder.anchor_value());
  check_shared("cpu.gemm", builder.build(), {numbers(4 * 96 * 64, 1), numbers(4 * 64 * 130, 2)},
               4 * 96 * 130);
}

TEST(CpuThreads, ConvolutionFromEightThreads) {
  GroupBuilder builder;
  const auto x = builder.stored("X", DataType_t::FLOAT, {2, 16, 20, 20}, "channels_last");
  const auto w = builder.stored("W", DataType_t::FLOAT, {40, 16, 3, 3}, "channels_last");
  const auto y = builder.stored("Y", DataType_t::FLOAT, {2, 40, 20, 20}, "channels_last");
  graph::Conv_fprop_attributes attributes;
  attributes.set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1});
  builder.anchor(AnchorKind::kContraction, attributes, {x, w}, {y});
  builder.begin_epilogue(y);
  builder.store(builder.anchor_value());
  check_shared("cpu.conv", builder.build(), {numbers(2 * 16 * 400, 1), numbers(40 * 16 * 9, 2)},
               2 * 40 * 400);
}

TEST(CpuThreads, AttentionFromEightThreads) {
  GroupBuilder builder;
  const Dims dims{2, 2, 100, 32};
  const auto q = builder.stored("Q", DataType_t::FLOAT, dims);
  const auto k = builder.stored("K", DataType_t::FLOAT, dims);
  const auto v = builder.stored("V", DataType_t::FLOAT, dims);
  const auto o = builder.stored("O", DataType_t::FLOAT, dims);
  graph::SDPA_attributes attributes;
  attributes.set_attn_scale(0.1F).set_causal_mask(true);
  builder.anchor(AnchorKind::kAttention, attributes, {q, k, v}, {o});
  builder.begin_epilogue(o);
  builder.store(builder.anchor_value());
  const int64_t n = 2 * 2 * 100 * 32;
  check_shared("cpu.attention", builder.build(), {numbers(n, 1), numbers(n, 2), numbers(n, 3)},
               static_cast<size_t>(n));
}

TEST(CpuThreads, ReductionToOneElementFromEightThreads) {
  GroupBuilder builder;
  const auto x = builder.stored("X", DataType_t::FLOAT, {300000});
  const auto y = builder.stored("Y", DataType_t::FLOAT, {1});
  graph::Reduction_attributes attributes;
  attributes.set_mode(ReductionMode_t::NORM2);
  builder.anchor(AnchorKind::kReduction, attributes, {x}, {y});
  builder.begin_epilogue(y);
  builder.store(builder.anchor_value());
  check_shared("cpu.reduce", builder.build(), {numbers(300000, 1)}, 1);
}

// Fused work leaves nothing of the graph in the workspace: only what the engines name.
TEST(CpuThreads, WorkspaceHoldsNoTensor) {
  GroupBuilder builder;
  const auto a = builder.stored("A", DataType_t::FLOAT, {512, 512});
  const auto b = builder.stored("B", DataType_t::FLOAT, {512, 64});
  const auto c = builder.virtual_tensor(DataType_t::FLOAT, {512, 64});
  const auto y = builder.stored("Y", DataType_t::FLOAT, {512, 64});
  builder.anchor(AnchorKind::kContraction, graph::Matmul_attributes(), {a, b}, {c});
  builder.begin_epilogue(c);
  builder.store(builder.pointwise(PointwiseMode_t::RELU_FWD, {builder.anchor_value()}, y));
  const auto group = builder.build();
  const auto engine = cpu_engine("cpu.gemm");
  auto candidates = engine->candidates(group, cpu_device(2));
  ASSERT_TRUE(candidates.is_good());
  auto kernel = engine->build(group, candidates.value().front(), cpu_device(2));
  std::vector<ir::Shape> shapes;
  for (const ir::Tensor& tensor : group.graph->tensors) shapes.push_back(tensor.shape);
  auto bound = kernel.value()->bind(shapes);
  ASSERT_TRUE(bound.is_good());
  int64_t end = 0;
  for (const engine::WorkspacePart& part : bound.value()->workspace_parts()) {
    EXPECT_EQ(part.offset, end);
    EXPECT_EQ(part.offset % 64, 0);
    EXPECT_TRUE(part.purpose.starts_with("packed") || part.purpose.starts_with("tiles"))
        << part.purpose;
    end = part.offset + part.bytes;
  }
  EXPECT_EQ(end, bound.value()->workspace_bytes());
}

}  // namespace
}  // namespace warploom::test
