#include <gtest/gtest.h>

#include "harness/plan_runner.h"
#include "smoke/graphs.h"

namespace warploom::test {
namespace {

TEST(Smoke, ShapesThatDoNotFit) {
  auto graph = float_graph();
  auto product = graph.matmul(input(graph, "a", {1, 4, 5}), input(graph, "b", {1, 6, 7}),
                              graph::Matmul_attributes().set_name("product"));
  product->set_output(true);
  const auto error = graph.validate();
  EXPECT_TRUE(error.is_bad());
  EXPECT_NE(error.get_message().find("product"), std::string::npos) << error.get_message();
}

TEST(Smoke, PackWithoutATensorOrWithANullPointer) {
  auto graph = float_graph();
  auto x = input(graph, "x", {1, 3, 5});
  auto y = graph.pointwise(x, mode(PointwiseMode_t::ABS));
  keep(y, {1, 3, 5});
  ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
  std::vector<float> data(15);
  std::vector<char> workspace(graph.get_workspace_size());
  std::unordered_map<graph::TensorPtr, void*> lacking{{x, data.data()}};
  EXPECT_EQ(graph.execute(cpu(), lacking, workspace.data()).get_code(),
            error_code_t::INVALID_VARIANT_PACK);
  std::unordered_map<graph::TensorPtr, void*> null{{x, data.data()}, {y, nullptr}};
  EXPECT_EQ(graph.execute(cpu(), null, workspace.data()).get_code(),
            error_code_t::INVALID_VARIANT_PACK);
}

TEST(Smoke, JsonCutAnywhereIsRefused) {
  auto graph = float_graph();
  auto y = graph.pointwise(input(graph, "x", {1, 3, 5}), mode(PointwiseMode_t::ABS));
  keep(y, {1, 3, 5});
  ASSERT_TRUE(graph.validate().is_good());
  const std::string text = graph.to_json();
  ASSERT_TRUE(graph::Graph().from_json(text).is_good());
  for (size_t length = 0; length + 1 < text.size(); length += 7)
    EXPECT_TRUE(graph::Graph().from_json(text.substr(0, length)).is_bad()) << length;
}

}  // namespace
}  // namespace warploom::test
