#include <gtest/gtest.h>

#include "api/kernel_cache_state.h"
#include "harness/plan_runner.h"
#include "plan/kernel.h"
#include "serialize/base64.h"
#include "shapes/family.h"

namespace warploom::test {
namespace {

graph::Graph product(const std::shared_ptr<KernelCache>& cache, int64_t rows, double factor = 2) {
  graph::Graph graph = describe();
  const auto a = input(graph, "A", {2, rows, 16}), b = input(graph, "B", {1, 16, 24});
  const auto c = graph.matmul(a, b, graph::Matmul_attributes().set_name("product"));
  const auto scale = graph.tensor(static_cast<float>(factor));
  output(graph.pointwise(c, scale, pointwise(PointwiseMode_t::MUL).set_name("scale")));
  graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
  return graph;
}

std::string built_plan(graph::Graph& graph,
                       const std::vector<HeurMode_t>& modes = {HeurMode_t::A}) {
  const error_t error = graph.build(cpu(), modes);
  EXPECT_TRUE(error.is_good()) << error;
  std::string name;
  EXPECT_TRUE(graph.get_plan_name(name).is_good());
  return name;
}

TEST(KernelCache, ListsTheSamePlansForOtherShapes) {
  const auto cache = std::make_shared<KernelCache>();
  EXPECT_FALSE(cache->is_finalized());
  graph::Graph first = product(cache, 8), second = product(cache, 333);
  const std::vector<HeurMode_t> modes{HeurMode_t::A, HeurMode_t::FALLBACK};
  const std::string name = built_plan(first, modes);
  EXPECT_TRUE(cache->is_finalized());
  const int64_t made = plan::made_kernel_count();
  EXPECT_EQ(built_plan(second, modes), name);
  EXPECT_EQ(plan::made_kernel_count(), made);
  ASSERT_EQ(second.plans().size(), first.plans().size());
  for (size_t i = 0; i < first.plans().size(); ++i)
    EXPECT_EQ(second.plans()[i].name, first.plans()[i].name);
  // It tells of its own shapes.
  EXPECT_NE(second.explain().find("333"), std::string::npos);
  EXPECT_EQ(second.explain().find("[2, 8, 16]"), std::string::npos);
}

TEST(KernelCache, KeysTellWhatIsNotShape) {
  const auto key = [](graph::Graph graph) {
    EXPECT_TRUE(graph.build_operation_graph(cpu()).is_good());
    const size_t frozen = graph.key();
    EXPECT_TRUE(graph.create_execution_plans({HeurMode_t::A}).is_good());
    EXPECT_TRUE(graph.build_plans().is_good());
    EXPECT_EQ(graph.key(), frozen);
    return frozen;
  };
  EXPECT_EQ(key(product(nullptr, 8)), key(product(nullptr, 9)));
  EXPECT_NE(key(product(nullptr, 8)), key(product(nullptr, 8, 3)));
  EXPECT_NE(key(std::move(product(nullptr, 8).set_name("other"))), key(product(nullptr, 8)));
  EXPECT_NE(key(std::move(product(nullptr, 8).set_dynamic_shape_enabled(false))),
            key(std::move(product(nullptr, 9).set_dynamic_shape_enabled(false))));
  // The same in every process and build: what is kept on disk is found by it.
  EXPECT_EQ(key(product(nullptr, 8)), 1434902324011629806u);
}

TEST(KernelCache, NeedsDynamicShapes) {
  graph::Graph graph = product(std::make_shared<KernelCache>(), 8);
  graph.set_dynamic_shape_enabled(false);
  EXPECT_EQ(graph.validate().code, error_code_t::GRAPH_NOT_SUPPORTED);
}

TEST(KernelCache, ComesBackFromJson) {
  const auto cache = std::make_shared<KernelCache>();
  graph::Graph graph = product(cache, 8);
  const std::string name = built_plan(graph);
  std::string text;
  ASSERT_TRUE(cache->to_json(text).is_good());
  EXPECT_NE(text.find(name), std::string::npos);

  const auto read = std::make_shared<KernelCache>();
  ASSERT_TRUE(read->from_json(text).is_good());
  EXPECT_TRUE(read->is_finalized());
  std::string again;
  ASSERT_TRUE(read->to_json(again).is_good());
  EXPECT_EQ(again, text);
  graph::Graph other = product(read, 70);
  EXPECT_EQ(built_plan(other), name);
  EXPECT_EQ(other.plans().size(), graph.plans().size());
  EXPECT_EQ(read->from_json(text).code, error_code_t::INVALID_VALUE);
}

TEST(KernelCache, RefusesWhatIsNoCache) {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {"[]", "object"},
           {R"({"format":"x","version":1,"graphs":[]})", "/format"},
           {R"({"format":"warploom-kernel-cache","version":2,"graphs":[]})", "/version"},
           {R"({"format":"warploom-kernel-cache","version":1})", "/graphs"},
           {R"({"format":"warploom-kernel-cache","version":1,"graphs":[{"key":"12"}]})", "/key"},
           {R"({"format":"warploom-kernel-cache","version":1,"graphs":[{"key":"00000000000000ff",
               "mode":"A","device":"d","plans":[{"name":"n","kernels":["*"]}]}]})",
            "/graphs/0/plans/0/kernels/0"},
           {R"({"format":"warploom-kernel-cache","version":1,"graphs":[],"more":1})", "more"}}) {
    KernelCache cache;
    const error_t error = cache.from_json(text);
    EXPECT_EQ(error.code, error_code_t::UNSUPPORTED_GRAPH_FORMAT) << text;
    EXPECT_NE(error.err_msg.find(part), std::string::npos) << error;
    EXPECT_FALSE(cache.is_finalized());
  }
}

TEST(Base64, BothWays) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(serialize::from_base64(serialize::to_base64(bytes)), bytes);
    bytes.push_back(static_cast<std::byte>(i * 37 + 200));
  }
  EXPECT_EQ(serialize::to_base64(std::as_bytes(std::span("warp", 4))), "d2FycA==");
  for (const char* text : {"d2FycA=", "d2FycB==", "d2F", "d2Fy=", "====", "d2F!"})
    EXPECT_FALSE(serialize::from_base64(text)) << text;
}

}  // namespace
}  // namespace warploom::test
