// Wrong calls: a clear error, nothing written, nothing crashed.
#include <gtest/gtest.h>

#include <warploom/engine.h>

#include "harness/describe.h"
#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

using enum DataType_t;

void expect_error(const error_t& error, error_code_t code,
                  const std::vector<std::string>& parts = {}) {
  EXPECT_EQ(error.get_code(), code) << error;
  for (const std::string& part : parts)
    EXPECT_NE(error.get_message().find(part), std::string::npos)
        << "'" << part << "' is not in: " << error;
}

struct Product {
  graph::Graph graph = describe();
  graph::TensorPtr a, b, c;

  Product() {
    a = input(graph, "left", {1, 4, 5});
    b = input(graph, "right", {1, 5, 6});
    c = graph.matmul(a, b, graph::Matmul_attributes().set_name("product"));
    output(c);
    c->set_name("result");
  }
};

TEST(Misuse, DuplicateUids) {
  Product of_inputs;
  of_inputs.a->set_uid(7);
  of_inputs.b->set_uid(7);
  expect_error(of_inputs.graph.validate(), error_code_t::INVALID_VALUE, {"7", "right"});

  Product of_output;
  of_output.a->set_uid(0);
  of_output.c->set_uid(0);
  expect_error(of_output.graph.validate(), error_code_t::INVALID_VALUE, {"0", "result"});
}

TEST(Misuse, UidZeroIsAUid) {
  Product product;
  product.a->set_uid(0);
  product.b->set_uid(1);
  ASSERT_TRUE(product.graph.build(cpu(), {HeurMode_t::A}).is_good());
  EXPECT_EQ(product.graph.get_variant_pack_uids_sorted(),
            (std::vector<int64_t>{0, 1, product.c->get_uid()}));
}

TEST(Misuse, CallsInTheWrongOrder) {
  std::unordered_map<int64_t, void*> pack;
  int64_t bytes = 0;
  std::string name;
  const auto expect_unbuilt = [&](graph::Graph& graph) {
    EXPECT_TRUE(graph.execute(cpu(), pack, nullptr).is_bad());
    EXPECT_TRUE(graph.execute_plan_at_index(cpu(), pack, nullptr, 0).is_bad());
    EXPECT_TRUE(graph.get_workspace_size(bytes).is_bad());
    EXPECT_TRUE(graph.get_plan_name(name).is_bad());
    EXPECT_EQ(graph.get_workspace_size(), 0);
  };
  Product product;
  graph::Graph& graph = product.graph;
  expect_unbuilt(graph);
  EXPECT_TRUE(graph.create_execution_plans({HeurMode_t::A}).is_bad());
  EXPECT_TRUE(graph.create_execution_plan("reference", {}).is_bad());
  EXPECT_TRUE(graph.check_support().is_bad());
  EXPECT_TRUE(graph.build_plans().is_bad());
  EXPECT_EQ(graph.get_execution_plan_count(), 0);
  ASSERT_TRUE(graph.build_operation_graph(cpu()).is_good());
  expect_unbuilt(graph);
  EXPECT_TRUE(graph.check_support().is_bad());
  EXPECT_TRUE(graph.build_plans().is_bad());
  ASSERT_TRUE(graph.create_execution_plans({HeurMode_t::A}).is_good());
  expect_unbuilt(graph);
  ASSERT_TRUE(graph.build_plans().is_good());
  EXPECT_TRUE(graph.get_plan_name(name).is_good());
}

TEST(Misuse, NullTensors) {
  graph::Graph graph = describe();
  const auto a = input(graph, "left", {1, 4, 5});
  const auto c = graph.matmul(a, nullptr, graph::Matmul_attributes().set_name("product"));
  if (c) output(c);
  expect_error(graph.validate(), error_code_t::ATTRIBUTE_NOT_SET, {"product", "B"});

  graph::Graph attention = describe();
  const auto q = input(attention, "Q", {1, 1, 4, 8});
  attention.sdpa(q, nullptr, nullptr, graph::SDPA_attributes().set_name("attention"));
  expect_error(attention.validate(), error_code_t::ATTRIBUTE_NOT_SET, {"attention"});
}

TEST(Misuse, NullHandle) {
  Product product;
  EXPECT_TRUE(product.graph.validate().is_good());
  EXPECT_TRUE(product.graph.build_operation_graph(nullptr).is_bad());
  ASSERT_TRUE(product.graph.build(cpu(), {HeurMode_t::A}).is_good());
  std::unordered_map<int64_t, void*> pack;
  EXPECT_TRUE(product.graph.execute(nullptr, pack, nullptr).is_bad());
}

TEST(Misuse, EmptyGraph) {
  graph::Graph graph = describe();
  EXPECT_TRUE(graph.validate().is_good());
  error_t error = graph.build_operation_graph(cpu());
  if (error.is_good()) error = graph.create_execution_plans({HeurMode_t::A});
  expect_error(error, error_code_t::HEURISTIC_QUERY_FAILED);
}

TEST(Misuse, AnInputThatNobodyUses) {
  Product product;
  product.graph.tensor(graph::Tensor_attributes().set_name("forgotten"));
  expect_error(product.graph.validate(), error_code_t::ATTRIBUTE_NOT_SET, {"forgotten"});

  Product complete;
  input(complete.graph, "unused", {3});
  ASSERT_TRUE(complete.graph.build(cpu(), {HeurMode_t::A}).is_good());
  EXPECT_EQ(complete.graph.get_variant_pack_uids_sorted().size(), 3u);
}

TEST(Misuse, PlansByWrongNames) {
  Product product;
  graph::Graph& graph = product.graph;
  ASSERT_TRUE(graph.build_operation_graph(cpu()).is_good());
  expect_error(graph.create_execution_plan("cpu.nonsense", {}), error_code_t::INVALID_VALUE,
               {"cpu.nonsense", "reference"});
  expect_error(graph.create_execution_plan(int64_t{-1}, {}), error_code_t::INVALID_VALUE, {"-1"});
  expect_error(graph.create_execution_plan(int64_t{4711}, {}), error_code_t::INVALID_VALUE,
               {"4711"});
  expect_error(graph.create_execution_plan("reference", {{KnobType_t::SPLIT_K_BUF, 99}}),
               error_code_t::INVALID_VALUE, {"SPLIT_K_BUF"});
  expect_error(graph.create_execution_plan_by_name("no such plan"), error_code_t::INVALID_VALUE,
               {"no such plan"});
  expect_error(graph.create_execution_plan_by_name(""), error_code_t::INVALID_VALUE);
  EXPECT_EQ(graph.get_execution_plan_count(), 0);
}

TEST(Misuse, WhatComesInLaterVersions) {
  Product product;
  ASSERT_TRUE(product.graph.build(cpu(), {HeurMode_t::A}).is_good());
  std::unordered_map<int64_t, void*> pack;
  // Not without the switch.
  expect_error(product.graph.execute(cpu(), pack, nullptr, {1}, {{1}}, {{1}}),
               error_code_t::INVALID_VALUE);
  expect_error(product.graph.populate_cuda_graph(cpu(), pack, nullptr, nullptr),
               error_code_t::GRAPH_NOT_SUPPORTED);
}

TEST(Misuse, SortedPointersOfTheWrongNumber) {
  Product product;
  ASSERT_TRUE(product.graph.build(cpu(), {HeurMode_t::A}).is_good());
  TensorMemory a(*product.a), b(*product.b), c(*product.c);
  GuardedBuffer workspace(product.graph.get_workspace_size());
  void* pointers[] = {a.pointer(), b.pointer(), c.pointer(), nullptr};
  expect_error(product.graph.execute(cpu(), pointers, 2, workspace.data()),
               error_code_t::INVALID_VARIANT_PACK);
  expect_error(product.graph.execute(cpu(), pointers, 4, workspace.data()),
               error_code_t::INVALID_VARIANT_PACK);
  expect_error(product.graph.execute(cpu(), static_cast<void**>(nullptr), 3, workspace.data()),
               error_code_t::INVALID_VARIANT_PACK);
  EXPECT_EQ(c.damage(false), "");
  EXPECT_TRUE(product.graph.execute(cpu(), pointers, 3, workspace.data()).is_good());
}

TEST(Misuse, ThreadsBelowOne) {
  const int before = get_num_threads();
  expect_error(set_num_threads(0), error_code_t::INVALID_VALUE, {"0"});
  expect_error(set_num_threads(-3), error_code_t::INVALID_VALUE, {"-3"});
  EXPECT_EQ(get_num_threads(), before);
}

TEST(Misuse, NullEngine) {
  EXPECT_TRUE(register_engine(nullptr).is_bad());
}

// A graph that was refused can be put right and built.
TEST(Misuse, MistakesCanBeMended) {
  Product product;
  product.b->set_dim({1, 4, 6});
  EXPECT_TRUE(product.graph.validate().is_bad());
  product.b->set_dim({1, 5, 6});
  ASSERT_TRUE(product.graph.build(cpu(), {HeurMode_t::A}).is_good());
}

}  // namespace
}  // namespace warploom::test
