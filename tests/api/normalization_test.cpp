// Normalizations as methods of Graph: which results there are, what they are called, JSON.
#include <gtest/gtest.h>

#include "harness/describe.h"
#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

using namespace graph;

TEST(Normalizations, PhaseDecidesWhichStatisticsThereAre) {
  Graph graph = describe();
  const auto x = input(graph, "X", {2, 3}), scale = input(graph, "scale", {1, 3});
  auto epsilon = graph.tensor(1e-5f, ScalarType::RUNTIME_PARAM);
  const auto layernorm = [&](NormFwdPhase_t phase) {
    return graph.layernorm(
        x, scale, scale,
        Layernorm_attributes().set_name("n").set_forward_phase(phase).set_epsilon(epsilon));
  };
  const auto [y, mean, inv] = layernorm(NormFwdPhase_t::TRAINING);
  ASSERT_TRUE(y && mean && inv);
  EXPECT_EQ(mean->get_name(), "n::MEAN");
  EXPECT_EQ(inv->get_name(), "n::INV_VARIANCE");
  EXPECT_TRUE(mean->get_is_virtual());
  const auto inference = layernorm(NormFwdPhase_t::INFERENCE);
  EXPECT_TRUE(inference[0]);
  EXPECT_FALSE(inference[1] || inference[2]);
  EXPECT_FALSE(layernorm(NormFwdPhase_t::NOT_SET)[1]);
  EXPECT_EQ(graph.validate().get_code(), error_code_t::ATTRIBUTE_NOT_SET);
}

TEST(Normalizations, ResultsAreCalledAsInTheContract) {
  Graph graph = describe();
  const auto x = input(graph, "X", {2, 3}), scale = input(graph, "scale", {1, 3}),
             inv = input(graph, "inv", {2, 1});
  const auto [dx, dscale, dbias] = graph.rmsnorm_backward(
      x, x, scale, inv, Rmsnorm_backward_attributes().set_name("r").has_dbias(true));
  EXPECT_EQ(dx->get_name(), "r::DX");
  EXPECT_EQ(dscale->get_name(), "r::Dscale");
  EXPECT_EQ(dbias->get_name(), "r::Dbias");
  const auto [sum, sq_sum] = graph.genstats(x, Genstats_attributes().set_name("g"));
  EXPECT_EQ(sum->get_name(), "g_sum_output");
  EXPECT_EQ(sq_sum->get_name(), "g_sq_sum_output");
  EXPECT_EQ(
      graph.rmsnorm_backward(x, x, scale, inv, Rmsnorm_backward_attributes().has_dbias(false))[2],
      nullptr);
}

TEST(Normalizations, RunningStatisticsComeInThrees) {
  Graph graph = describe();
  const auto x = input(graph, "X", {2, 3, 4}), scale = input(graph, "scale", {1, 3, 1});
  auto epsilon = graph.tensor(1e-5f, ScalarType::RUNTIME_PARAM);
  auto mean = input(graph, "mean", {1, 3, 1}), variance = input(graph, "variance", {1, 3, 1});
  auto momentum = graph.tensor(0.1f, ScalarType::RUNTIME_PARAM);
  const auto all =
      graph.batchnorm(x, scale, scale,
                      Batchnorm_attributes().set_epsilon(epsilon).set_previous_running_stats(
                          mean, variance, momentum));
  EXPECT_TRUE(all[3] && all[4]);
  const auto none = graph.batchnorm(x, scale, scale, Batchnorm_attributes().set_epsilon(epsilon));
  EXPECT_FALSE(none[3] || none[4]);
}

TEST(Normalizations, GoThroughJson) {
  Graph graph = describe();
  const auto x = input(graph, "X", {2, 3, 4}), scale = input(graph, "scale", {1, 3, 1});
  output(graph.instancenorm(x, scale, nullptr,
                            Instancenorm_attributes()
                                .set_forward_phase(NormFwdPhase_t::INFERENCE)
                                .set_epsilon(1e-5f))[0]);
  output(graph.softmax(x, Softmax_attributes().set_axis(1)));
  ASSERT_TRUE(graph.validate().is_good());
  Graph copy;
  const error_t error = copy.from_json(graph.to_json());
  ASSERT_TRUE(error.is_good()) << error.err_msg;
  EXPECT_EQ(copy.to_json(), graph.to_json());
}

}  // namespace
}  // namespace warploom::test
