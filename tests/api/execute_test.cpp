#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "api/scripted_engine.h"
#include "harness/plan_runner.h"

namespace warploom::graph {
namespace {

using test::cpu;
using test::GuardedBuffer;
using test::ScriptedGraph;
using Code = error_code_t;

Graph float_graph() {
  Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  return graph;
}

Tensor_attributes matrix(const char* name, int64_t rows, int64_t columns) {
  return Tensor_attributes()
      .set_name(name)
      .set_dim({1, rows, columns})
      .set_stride({rows * columns, columns, 1});
}

/// C = A B, then a column of maxima: two operations, so that single-operation plans keep C.
struct Product {
  Graph graph = float_graph();
  TensorPtr a = graph.tensor(matrix("A", 2, 3)), b = graph.tensor(matrix("B", 3, 2));
  TensorPtr c = graph.matmul(a, b, Matmul_attributes().set_name("product"));
  std::vector<float> a_data{1, 2, 3, 4, 5, 6}, b_data{1, 2, 3, 4, 5, 6}, c_data{-1, -1, -1, -1};
  std::unordered_map<TensorPtr, void*> pack{
      {a, a_data.data()}, {b, b_data.data()}, {c, c_data.data()}};

  Product() { c->set_name("C").set_output(true); }
};

const std::vector<float> kProduct{22, 28, 49, 64};

TEST(Execute, GivesTheProduct) {
  Product product;
  const error_t built = product.graph.build(cpu(), {HeurMode_t::A});
  ASSERT_TRUE(built.is_good()) << built;
  std::vector<char> workspace(static_cast<size_t>(product.graph.get_workspace_size()));
  const error_t error = product.graph.execute(cpu(), product.pack, workspace.data());
  ASSERT_TRUE(error.is_good()) << error;
  EXPECT_EQ(product.c_data, kProduct);
}

TEST(Execute, TakesSortedPointers) {
  Product product;
  ASSERT_TRUE(product.graph.build(cpu(), {HeurMode_t::A}).is_good());
  std::vector<char> workspace(static_cast<size_t>(product.graph.get_workspace_size()));
  ASSERT_EQ(product.graph.get_variant_pack_uids_sorted(), (std::vector<int64_t>{1, 2, 3}));
  void* pointers[] = {product.a_data.data(), product.b_data.data(), product.c_data.data()};
  ASSERT_TRUE(product.graph.execute(cpu(), pointers, 3, workspace.data()).is_good());
  EXPECT_EQ(product.c_data, kProduct);
  EXPECT_EQ(product.graph.execute(cpu(), pointers, 2, workspace.data()).code,
            Code::INVALID_VARIANT_PACK);
  EXPECT_EQ(product.graph.execute(cpu(), nullptr, 3, workspace.data()).code,
            Code::INVALID_VARIANT_PACK);
}

// B141
TEST(Execute, NamesWhatAVariantPackLacks) {
  Product product;
  ASSERT_TRUE(product.graph.build(cpu(), {HeurMode_t::A}).is_good());
  std::vector<char> workspace(static_cast<size_t>(product.graph.get_workspace_size()));
  auto run = [&](std::unordered_map<int64_t, void*> pack) {
    return product.graph.execute(cpu(), pack, workspace.data());
  };
  void* const a = product.a_data.data();
  void* const b = product.b_data.data();
  void* const c = product.c_data.data();

  error_t error = run({{1, a}, {3, c}});
  EXPECT_EQ(error.code, Code::INVALID_VARIANT_PACK);
  EXPECT_NE(error.err_msg.find("Uid 2 not found in variant pack."), std::string::npos) << error;
  EXPECT_NE(error.err_msg.find("\"B\""), std::string::npos) << error;

  error = run({{1, a}, {2, b}, {3, nullptr}});
  EXPECT_EQ(error.code, Code::INVALID_VARIANT_PACK);
  EXPECT_NE(error.err_msg.find("null pointer"), std::string::npos) << error;
  EXPECT_NE(error.err_msg.find("\"C\""), std::string::npos) << error;
  EXPECT_EQ(product.c_data, (std::vector<float>{-1, -1, -1, -1})) << "nothing ran";

  int elsewhere = 0;
  EXPECT_TRUE(run({{1, a}, {2, b}, {3, c}, {17, &elsewhere}, {-4, nullptr}}).is_good());
  EXPECT_EQ(product.c_data, kProduct) << "more entries are ignored";

  // A tensor without uid, and none at all, are nobody's.
  std::unordered_map<TensorPtr, void*> pack = product.pack;
  pack.emplace(nullptr, &elsewhere);
  pack.emplace(std::make_shared<Tensor_attributes>(), &elsewhere);
  EXPECT_TRUE(product.graph.execute(cpu(), pack, workspace.data()).is_good());
  pack.erase(product.a);
  EXPECT_EQ(product.graph.execute(cpu(), pack, workspace.data()).code, Code::INVALID_VARIANT_PACK);
}

TEST(Execute, LeavesTheBytesAroundTheWorkspace) {
  for (const int64_t misalignment : {0, 1, 8, 63}) {
    ScriptedGraph scripted("scripted");
    ASSERT_TRUE(scripted.graph.build(cpu(), {HeurMode_t::A}).is_good());
    std::vector<float> in(4, 1), out(4, -1);
    std::unordered_map<TensorPtr, void*> pack{{scripted.x, in.data()}, {scripted.y, out.data()}};
    int64_t bytes = 0;
    ASSERT_TRUE(scripted.graph.get_workspace_size(bytes).is_good());
    ASSERT_GE(bytes, 1000);
    GuardedBuffer workspace(bytes, misalignment);
    ASSERT_TRUE(scripted.graph.execute(cpu(), pack, workspace.data(), bytes).is_good());
    EXPECT_TRUE(workspace.guards_are_intact());
    EXPECT_EQ(out[0], 1);
  }
}

TEST(Execute, RefusesAWorkspaceThatIsTooSmall) {
  ScriptedGraph scripted("scripted");
  ASSERT_TRUE(scripted.graph.build(cpu(), {HeurMode_t::A}).is_good());
  std::vector<float> in(4, 1), out(4, -1);
  std::unordered_map<TensorPtr, void*> pack{{scripted.x, in.data()}, {scripted.y, out.data()}};
  const int64_t bytes = scripted.graph.get_workspace_size();
  std::vector<char> workspace(static_cast<size_t>(bytes));
  const error_t small = scripted.graph.execute(cpu(), pack, workspace.data(), bytes - 1);
  EXPECT_EQ(small.code, Code::INVALID_VALUE);
  EXPECT_NE(small.err_msg.find(std::to_string(bytes)), std::string::npos) << small;
  const error_t null = scripted.graph.execute(cpu(), pack, nullptr);
  EXPECT_EQ(null.code, Code::INVALID_VALUE);
  EXPECT_NE(null.err_msg.find(std::to_string(bytes)), std::string::npos) << null;
  EXPECT_EQ(out[0], -1) << "nothing ran";
}

TEST(Execute, TakesNullForATensorWithoutElements) {
  Graph graph = float_graph();
  const TensorPtr x = graph.tensor(Tensor_attributes().set_dim({0, 3}).set_stride({3, 1}));
  const TensorPtr y =
      graph.pointwise(x, Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD));
  y->set_output(true);
  const error_t built = graph.build(cpu(), {HeurMode_t::A});
  ASSERT_TRUE(built.is_good()) << built;
  std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size()) + 1);
  std::unordered_map<TensorPtr, void*> pack{{x, nullptr}, {y, nullptr}};
  EXPECT_TRUE(graph.execute(cpu(), pack, workspace.data()).is_good());
  pack.erase(y);
  EXPECT_EQ(graph.execute(cpu(), pack, workspace.data()).code, Code::INVALID_VARIANT_PACK);
}

TEST(Execute, ReadsScalarsOfEveryKind) {
  Graph graph = float_graph();
  const auto add = Pointwise_attributes().set_mode(PointwiseMode_t::ADD);
  const TensorPtr x = graph.tensor(Tensor_attributes().set_name("x").set_dim({2}).set_stride({1}));
  const TensorPtr on_host = graph.tensor(
      Tensor_attributes().set_name("s").set_dim({1}).set_stride({1}).set_is_pass_by_value(true));
  TensorPtr sum = graph.pointwise(x, graph.tensor(0.25f), add);
  sum = graph.pointwise(sum, graph.tensor(0.5f, ScalarType::COMPILE_TIME_CONST), add);
  sum = graph.pointwise(sum, on_host, add);
  sum->set_output(true);
  ASSERT_TRUE(test::build_every_plan(graph, cpu()).is_good());
  EXPECT_EQ(graph.get_variant_pack_uids_sorted().size(), 3u) << "stored scalars are not asked for";
  for (int64_t plan = 0; plan < graph.get_execution_plan_count(); ++plan)
    for (const float scalar : {4.f, 8.f}) {
      float value = scalar;
      std::vector<float> in{1, 2}, out{-1, -1};
      std::vector<char> workspace(
          static_cast<size_t>(graph.get_workspace_size_plan_at_index(plan)));
      std::unordered_map<TensorPtr, void*> pack{
          {x, in.data()}, {on_host, &value}, {sum, out.data()}};
      const error_t error = graph.execute_plan_at_index(cpu(), pack, workspace.data(), plan);
      ASSERT_TRUE(error.is_good()) << error;
      EXPECT_EQ(out, (std::vector<float>{1.75f + scalar, 2.75f + scalar}));
      pack[on_host] = nullptr;
      EXPECT_EQ(graph.execute_plan_at_index(cpu(), pack, workspace.data(), plan).code,
                Code::INVALID_VARIANT_PACK);
    }
}

/// Y = X[1:3], an output, and Z = -Y.
TEST(Execute, WritesASliceOnlyWhereThereIsAPointer) {
  Graph graph = float_graph();
  const TensorPtr x = graph.tensor(Tensor_attributes().set_name("X").set_dim({4}).set_stride({1}));
  const TensorPtr y = graph.slice(x, Slice_attributes().set_slices({{1, 3}}));
  y->set_output(true);
  const TensorPtr z = graph.pointwise(y, Pointwise_attributes().set_mode(PointwiseMode_t::NEG));
  z->set_output(true);
  const error_t built = test::build_every_plan(graph, cpu());
  ASSERT_TRUE(built.is_good()) << built;
  EXPECT_EQ(graph.get_variant_pack_uids_sorted(),
            (std::vector<int64_t>{x->get_uid(), z->get_uid()}));
  for (int64_t plan = 0; plan < graph.get_execution_plan_count(); ++plan)
    for (const bool has_pointer : {true, false}) {
      std::vector<float> in{1, 2, 3, 4}, slice(2, -1), out(2, -1);
      GuardedBuffer workspace(graph.get_workspace_size_plan_at_index(plan));
      std::unordered_map<TensorPtr, void*> pack{{x, in.data()}, {z, out.data()}};
      if (has_pointer) pack[y] = slice.data();
      const error_t error = graph.execute_plan_at_index(cpu(), pack, workspace.data(), plan);
      ASSERT_TRUE(error.is_good()) << error;
      EXPECT_EQ(out, (std::vector<float>{-2, -3})) << graph.plans()[plan].name;
      EXPECT_EQ(slice, has_pointer ? (std::vector<float>{2, 3}) : (std::vector<float>{-1, -1}));
      EXPECT_TRUE(workspace.guards_are_intact());
    }
}

TEST(Execute, LeavesOutASliceThatNobodyWants) {
  Graph graph = float_graph();
  const TensorPtr x = graph.tensor(Tensor_attributes().set_name("X").set_dim({4}).set_stride({1}));
  const TensorPtr y = graph.slice(x, Slice_attributes().set_slices({{1, 3}}));
  y->set_output(true);
  ASSERT_TRUE(test::build_every_plan(graph, cpu()).is_good());
  for (int64_t plan = 0; plan < graph.get_execution_plan_count(); ++plan) {
    std::vector<float> in{1, 2, 3, 4}, slice(2, -1);
    GuardedBuffer workspace(graph.get_workspace_size_plan_at_index(plan));
    std::unordered_map<TensorPtr, void*> pack{{x, in.data()}};
    ASSERT_TRUE(graph.execute_plan_at_index(cpu(), pack, workspace.data(), plan).is_good());
    pack[y] = slice.data();
    ASSERT_TRUE(graph.execute_plan_at_index(cpu(), pack, workspace.data(), plan).is_good());
    EXPECT_EQ(slice, (std::vector<float>{2, 3}));
  }
}

TEST(Execute, RunsOnePlanFromEightThreads) {
  Graph graph = float_graph();
  constexpr int64_t kSize = 24;
  const TensorPtr a = graph.tensor(matrix("A", kSize, kSize));
  const TensorPtr b = graph.tensor(matrix("B", kSize, kSize));
  const TensorPtr c = graph.matmul(a, b, {});
  const TensorPtr y =
      graph.pointwise(c, Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD));
  y->set_output(true);
  ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());

  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      // A is thread times the identity, so that Y is thread times B.
      std::vector<float> left(kSize * kSize, 0), right(kSize * kSize), out(kSize * kSize);
      for (int64_t i = 0; i < kSize; ++i) left[i * kSize + i] = static_cast<float>(thread);
      for (int64_t i = 0; i < kSize * kSize; ++i) right[i] = static_cast<float>(i % 97);
      std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size()));
      std::unordered_map<int64_t, void*> pack{
          {a->get_uid(), left.data()}, {b->get_uid(), right.data()}, {y->get_uid(), out.data()}};
      for (int run = 0; run < 50; ++run) {
        std::fill(out.begin(), out.end(), -1.f);
        if (graph.execute(cpu(), pack, workspace.data()).is_bad()) ++wrong;
        for (int64_t i = 0; i < kSize * kSize; ++i)
          if (out[i] != static_cast<float>(thread) * right[i]) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Execute, VerificationComparesTheFirstRunWithTheReference) {
  HandleOptions options;
  options.verify = true;
  std::unique_ptr<Handle> handle;
  ASSERT_TRUE(Handle::create(handle, options).is_good());

  Product right;
  ASSERT_TRUE(right.graph.build(handle.get(), {HeurMode_t::A}).is_good());
  std::vector<char> workspace(static_cast<size_t>(right.graph.get_workspace_size()));
  const error_t error = right.graph.execute(handle.get(), right.pack, workspace.data());
  ASSERT_TRUE(error.is_good()) << error;
  EXPECT_EQ(right.c_data, kProduct);

  // The scripted engine writes 1 everywhere: right for an input of ones alone.
  ScriptedGraph wrong("scripted");
  ASSERT_TRUE(wrong.graph.build(handle.get(), {HeurMode_t::A}).is_good());
  workspace.resize(static_cast<size_t>(wrong.graph.get_workspace_size()));
  std::vector<float> in{1, 1, 5, 1}, out(4, -1);
  std::unordered_map<TensorPtr, void*> pack{{wrong.x, in.data()}, {wrong.y, out.data()}};
  const error_t found = wrong.graph.execute(handle.get(), pack, workspace.data());
  EXPECT_EQ(found.code, Code::GRAPH_EXECUTION_FAILED);
  EXPECT_NE(found.err_msg.find("\"Y\" at [2]: found 1, the reference has 5"), std::string::npos)
      << found;
  EXPECT_TRUE(wrong.graph.execute(handle.get(), pack, workspace.data()).is_good())
      << "only the first run is compared";
}

}  // namespace
}  // namespace warploom::graph
