#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "engines/reference/engine.h"
#include "ops/allocation_count.h"
#include "ops/frozen_group.h"

namespace warploom::test {
namespace {

using graph::Pointwise_attributes;
using Mode = PointwiseMode_t;

const Device kCpu;

Pointwise_attributes pointwise(Mode mode, const char* name = "step") {
  return Pointwise_attributes().set_mode(mode).set_name(name);
}

std::unique_ptr<const engine::BoundKernel> bind_group(const fusion::FusionGroup& group,
                                                      ir::ShapeTable shapes) {
  const auto reference = engines::reference::make_engine();
  EXPECT_TRUE(reference->supports(group, kCpu).is_supported);
  const auto candidates = reference->candidates(group, kCpu);
  EXPECT_EQ(candidates.value().size(), 1u);
  auto kernel = reference->build(group, candidates.value()[0], kCpu);
  EXPECT_TRUE(kernel.is_good());
  auto bound = kernel.value()->bind(shapes);
  EXPECT_TRUE(bound.is_good()) << bound.error().err_msg;
  return std::move(bound).value();
}

// Runs on poisoned memory and returns the outputs in the group's order.
std::vector<Values> run_group(const FrozenGroup& frozen, const std::vector<Values>& inputs) {
  const std::vector<ir::Shape> shapes = frozen.shapes();
  const auto bound = bind_group(frozen.group, shapes);
  std::vector<TensorMemory> memories;
  std::vector<void*> pointers;
  memories.reserve(frozen.tensors.size());
  const auto add = [&](ir::TensorId id) {
    memories.emplace_back(*frozen.tensors[static_cast<size_t>(id)]);
    pointers.push_back(memories.back().pointer());
  };
  for (ir::TensorId id : frozen.group.inputs) add(id);
  for (size_t i = 0; i < inputs.size(); ++i) memories[i].write(inputs[i]);
  for (ir::TensorId id : frozen.group.outputs) add(id);
  GuardedBuffer workspace(bound->workspace_bytes());
  EXPECT_TRUE(bound->launch(nullptr, pointers, workspace.data()).is_good());
  EXPECT_TRUE(workspace.guards_are_intact());
  std::vector<Values> outputs;
  for (size_t i = 0; i < memories.size(); ++i) {
    EXPECT_EQ(memories[i].damage(i >= frozen.group.inputs.size()), "");
    if (i >= frozen.group.inputs.size()) outputs.push_back(memories[i].read());
  }
  return outputs;
}

TEST(ReferenceEngine, SaysWhatItIs) {
  const auto reference = engines::reference::make_engine();
  EXPECT_EQ(reference->info().name, "reference");
  EXPECT_TRUE(reference->info().is_last_resort);
  EXPECT_EQ(reference->info().device, DeviceType::CPU);
  const FrozenGroup frozen({with(pointwise(Mode::ABS), {input("x", {2})}, {output()})});
  Device gpu;
  gpu.type = DeviceType::CUDA;
  const engine::Verdict verdict = reference->supports(frozen.group, gpu);
  EXPECT_FALSE(verdict.is_supported);
  EXPECT_NE(verdict.refusal.rule.find("CPU"), std::string_view::npos);
}

// matmul -> scale -> bias -> GELU -> HALF output, and AMAX of that output.
TEST(ReferenceEngine, ContractionWithEpilogue) {
  const TensorPtr a = input("a", {1, 3, 4}, DataType_t::HALF),
                  b = input("b", {1, 4, 5}, DataType_t::HALF);
  const TensorPtr bias = input("bias", {1, 1, 5}, DataType_t::HALF);
  const auto scale = std::make_shared<graph::Tensor_attributes>(0.3f);
  const TensorPtr product = result("product"), scaled = result("scaled"), sum = result("sum");
  const TensorPtr y = output(DataType_t::HALF), amax = output(DataType_t::FLOAT, {1, 1, 1});
  const FrozenGroup frozen(
      {with(graph::Matmul_attributes(), {a, b}, {product}),
       with(pointwise(Mode::MUL), {product, scale}, {scaled}),
       with(pointwise(Mode::ADD), {scaled, bias}, {sum}),
       with(pointwise(Mode::GELU_FWD), {sum}, {y}),
       with(graph::Reduction_attributes().set_mode(ReductionMode_t::AMAX), {y}, {amax})},
      {DataType_t::HALF, DataType_t::HALF, DataType_t::FLOAT});
  const Values a_values = random_values(12), b_values = random_values(20, 2),
               bias_values = random_values(5, 3);
  const std::vector<Values> found = run_group(frozen, {a_values, b_values, {0.3f}, bias_values});

  double largest = 0;
  Values expected;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 5; ++j) {
      double x = 0;
      for (size_t k = 0; k < 4; ++k) x += a_values[i * 4 + k] * b_values[k * 5 + j];
      x = x * 0.3f + bias_values[j];
      x = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
      expected.push_back(static_cast<float>(half(static_cast<float>(x))));
      largest = std::max(largest, std::fabs(expected.back()));
    }
  EXPECT_EQ(found[0], expected);
  EXPECT_EQ(found[1], Values{largest});  // of the rounded values
}

TEST(ReferenceEngine, VirtualFloatsAreNotRounded) {
  const TensorPtr x = input("x", {3}, DataType_t::HALF), y = output(DataType_t::HALF);
  const TensorPtr square = result(), sum = result();
  square->set_data_type(DataType_t::HALF);
  sum->set_data_type(DataType_t::BFLOAT16);
  const FrozenGroup frozen({with(pointwise(Mode::MUL), {x, x}, {square}),
                            with(pointwise(Mode::ADD), {square, x}, {sum}),
                            with(pointwise(Mode::SUB), {sum, square}, {y})});
  EXPECT_EQ(run_group(frozen, {{1000, 65504, 1.0009765625}})[0],
            (Values{1000, 65504, 1.0009765625}));
}

TEST(ReferenceEngine, VirtualIntegersRoundAndSaturate) {
  const TensorPtr x = input("x", {4}), y = output();
  const TensorPtr narrow = result(), flag = result();
  narrow->set_data_type(DataType_t::INT8);
  flag->set_data_type(DataType_t::BOOLEAN);
  const FrozenGroup frozen({with(pointwise(Mode::IDENTITY), {x}, {narrow}),
                            with(pointwise(Mode::IDENTITY), {x}, {flag}),
                            with(pointwise(Mode::ADD_SQUARE), {narrow, flag}, {y})});
  EXPECT_EQ(run_group(frozen, {{300, -2.5, 0.25, 0}})[0], (Values{128, -1, 1, 0}));
}

// A stored tensor is rounded before its consumers read it; a virtual twin is not.
TEST(ReferenceEngine, StoredValuesAreReadRounded) {
  const TensorPtr x = input("x", {1}), stored = output(DataType_t::BFLOAT16), y = output();
  const FrozenGroup frozen(
      {with(pointwise(Mode::IDENTITY), {x}, {stored}), with(pointwise(Mode::NEG), {stored}, {y})});
  EXPECT_EQ(run_group(frozen, {{1.001}}), (std::vector<Values>{{1}, {-1}}));
}

TEST(ReferenceEngine, ViewsOfVirtualTensors) {
  // x^2, its columns 1 and 2, transposed, as a line, negated.
  const TensorPtr x = input("x", {2, 4}), square = result(), part = result(), turned = result(),
                  line = result(), y = output();
  const FrozenGroup frozen(
      {with(pointwise(Mode::MUL), {x, x}, {square}),
       with(graph::Slice_attributes().set_slices({{0, 2}, {1, 3}}), {square}, {part}),
       with(graph::Transpose_attributes().set_permutation({1, 0}), {part}, {turned}),
       with(graph::Reshape_attributes().set_dim({4}).set_reshape_mode(ReshapeMode_t::LOGICAL),
            {turned}, {line}),
       with(pointwise(Mode::NEG), {line}, {y})});
  EXPECT_EQ(run_group(frozen, {count_up(8)})[0], (Values{-4, -36, -9, -49}));
}

TEST(ReferenceEngine, ScalarsNeedNoPointer) {
  const TensorPtr x = input("x", {2}), y = output();
  FrozenGroup frozen(
      {with(pointwise(Mode::MUL), {x, std::make_shared<graph::Tensor_attributes>(2.5f)}, {y})});
  frozen.group.inputs.resize(1);
  EXPECT_EQ(run_group(frozen, {{1, 2}})[0], (Values{2.5, 5}));
}

TEST(ReferenceEngine, IntegerChainsStayExact) {
  const auto wide = DataType_t::INT64;
  const TensorPtr x = input("x", {2}, wide), one = input("one", {1}, wide), sum = result(),
                  y = output(wide);
  const FrozenGroup frozen(
      {with(pointwise(Mode::ADD), {x, one}, {sum}), with(pointwise(Mode::SUB), {sum, x}, {y})},
      {wide, wide, wide});
  EXPECT_EQ(run_group(frozen, {{9007199254740994, 5}, {1}})[0], (Values{1, 1}));
}

TEST(ReferenceEngine, OtherShapesAtBind) {
  const TensorPtr x = input("x", {2}), twice = result(), y = output();
  const FrozenGroup frozen(
      {with(pointwise(Mode::ADD), {x, x}, {twice}), with(pointwise(Mode::NEG), {twice}, {y})});
  std::vector<ir::Shape> shapes(3, ir::Shape{{3}, {1}});
  const auto bound = bind_group(frozen.group, shapes);
  float in[3] = {1, 2, 3}, out[3] = {};
  void* pointers[] = {in, out};
  GuardedBuffer workspace(bound->workspace_bytes());
  EXPECT_TRUE(bound->launch(nullptr, pointers, workspace.data()).is_good());
  EXPECT_EQ(out[2], -6);
  EXPECT_GE(bound->workspace_bytes(), 24);
}

TEST(ReferenceEngine, EmptyGroupsDoNothing) {
  const TensorPtr x = input("x", {0, 3}), twice = result(), y = output();
  const FrozenGroup frozen(
      {with(pointwise(Mode::ADD), {x, x}, {twice}), with(pointwise(Mode::NEG), {twice}, {y})});
  EXPECT_EQ(run_group(frozen, {{}})[0], Values());
}

FrozenGroup attention_block() {
  const TensorPtr q = input("q", {1, 2, 3, 4}), k = input("k", {1, 2, 5, 4}),
                  v = input("v", {1, 2, 5, 4});
  const TensorPtr o = result("o"), y = output();
  o->set_dim({1, 2, 3, 4}).set_stride({24, 12, 4, 1});
  return FrozenGroup(
      {with(graph::SDPA_attributes(), {q, k, v}, {o}), with(pointwise(Mode::NEG), {o}, {y})});
}

TEST(ReferenceEngine, WorkspaceIsNamedByteByByte) {
  const FrozenGroup frozen = attention_block();
  const auto bound = bind_group(frozen.group, frozen.shapes());
  int64_t end = 0;
  for (const engine::WorkspacePart& part : bound->workspace_parts()) {
    EXPECT_FALSE(part.purpose.empty());
    EXPECT_EQ(part.offset % 64, 0);
    EXPECT_GE(part.offset, end);
    end = part.offset + part.bytes;
  }
  EXPECT_LE(end, bound->workspace_bytes());
  EXPECT_NE(bound->workspace_parts()[0].purpose.find("\"o\""), std::string::npos);
}

TEST(ReferenceEngine, LaunchAllocatesNothingAndThreadsShareTheKernel) {
  const FrozenGroup frozen = attention_block();
  const auto bound = bind_group(frozen.group, frozen.shapes());
  const Values values = random_values(96);
  const std::vector<float> data(values.begin(), values.end());
  constexpr size_t kThreads = 8;
  std::vector<std::vector<float>> results(kThreads, std::vector<float>(24));
  std::vector<std::vector<std::byte>> workspaces(
      kThreads, std::vector<std::byte>(static_cast<size_t>(bound->workspace_bytes())));
  const auto launch = [&](size_t i) {
    void* const base = const_cast<float*>(data.data());
    void* pointers[] = {base, base, base, results[i].data()};
    (void)bound->launch(nullptr, pointers, workspaces[i].data());
  };
  const int64_t before = allocation_count();
  launch(0);
  EXPECT_EQ(allocation_count(), before);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) launch(i);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& found : results) EXPECT_EQ(found, results[0]);
}

TEST(ReferenceEngine, ImpossibleWorkspaceIsAnError) {
  // An input that repeats one element 2^60 times takes no memory, but its copy would.
  const int64_t many = int64_t{1} << 59;
  const TensorPtr a = input("a", {1, many}, DataType_t::INT8, {1, 0});
  const TensorPtr b = input("b", {many, 1}, DataType_t::INT8, {0, 1});
  const FrozenGroup frozen({with(graph::Matmul_attributes().set_name("wide"), {a, b}, {output()})});
  const auto reference = engines::reference::make_engine();
  const auto candidates = reference->candidates(frozen.group, kCpu);
  EXPECT_EQ(candidates.error().code, error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED);
  EXPECT_NE(candidates.error().err_msg.find("\"wide\""), std::string::npos);
}

}  // namespace
}  // namespace warploom::test
