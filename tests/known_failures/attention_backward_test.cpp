#include <cmath>

#include <gtest/gtest.h>

#include <warploom/warploom.h>

#include "harness/attention_loops.h"
#include "harness/describe.h"
#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

using graph::SDPA_backward_attributes;
using graph::TensorPtr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Gradient {
  AttentionLoops loops;
  DataType_t type;
  graph::Graph graph;
  TensorPtr q, k, v, o, d_o, stats;
  Values q_values, k_values, v_values, o_values, d_o_values, stats_values;
  Inputs inputs;

  explicit Gradient(const AttentionLoops& l, DataType_t io = DataType_t::FLOAT)
      : loops(l), type(io), graph(describe(io)) {
    q = input(graph, "Q", {l.b, l.hq, l.sq, l.dqk});
    k = input(graph, "K", {l.b, l.hk, l.skv, l.dqk});
    v = input(graph, "V", {l.b, l.hv, l.skv, l.dv});
    o = input(graph, "O", {l.b, l.hq, l.sq, l.dv});
    d_o = input(graph, "dO", {l.b, l.hq, l.sq, l.dv});
    stats = input(graph, "Stats", {l.b, l.hq, l.sq, 1}, "row_major", DataType_t::FLOAT);
    q_values = random_values({l.q_size()}, type, 1);
    k_values = random_values({l.k_size()}, type, 2);
    v_values = random_values({l.v_size()}, type, 3);
    d_o_values = random_values({l.o_size()}, type, 4);
  }
  /// O and Stats of the loops, exactly.
  void compute_forward() {
    const auto forward = loops.forward(q_values, k_values, v_values);
    o_values = forward.o;
    stats_values = forward.stats;
  }
  TensorPtr add(const std::string& name, const Dims& dims, const Values& values,
                DataType_t data_type = DataType_t::FLOAT) {
    const auto tensor = input(graph, name, dims, "row_major", data_type);
    inputs.emplace_back(tensor, values);
    return tensor;
  }
  std::vector<Expected> describe_gradient(SDPA_backward_attributes attributes,
                                          std::optional<Tolerance> tolerance = std::nullopt) {
    const auto [d_q, d_k, d_v] =
        graph.sdpa_backward(q, k, v, o, d_o, stats, attributes.set_name("gradient"));
    output(d_q, q->get_dim(), "row_major");
    output(d_k, k->get_dim(), "row_major");
    output(d_v, v->get_dim(), "row_major");
    const auto exact = loops.backward(q_values, k_values, v_values, d_o_values);
    inputs.insert(inputs.end(), {{q, q_values},
                                 {k, k_values},
                                 {v, v_values},
                                 {o, o_values},
                                 {d_o, d_o_values},
                                 {stats, stats_values}});
    return {{d_q, exact.q, tolerance}, {d_k, exact.k, tolerance}, {d_v, exact.v, tolerance}};
  }
  void check(const SDPA_backward_attributes& attributes,
             std::optional<Tolerance> tolerance = std::nullopt) {
    if (o_values.empty()) compute_forward();
    const auto expected = describe_gradient(attributes, tolerance);
    expect_every_plan(graph, inputs, expected);
  }
};

// Every score about -120, and so every row's LSE.
TEST(KnownFailures, B46_ScoresFarBelowZero) {
  for (int64_t extent : {64, 192}) {
    AttentionLoops loops{
        .sq = extent, .skv = extent, .dqk = 32, .dv = 32, .scale = 1 / std::sqrt(32.0)};
    loops.scale = static_cast<double>(static_cast<float>(loops.scale));
    Gradient gradient(loops);
    for (auto* values : {&gradient.q_values, &gradient.k_values})
      for (double& x : *values) x = static_cast<double>(static_cast<float>(0.1 * x));
    for (size_t i = 0; i < gradient.q_values.size(); i += 32) {
      gradient.q_values[i] = 1;
      gradient.k_values[i] = static_cast<double>(static_cast<float>(-120 * std::sqrt(32.0)));
    }
    gradient.check(SDPA_backward_attributes()
                       .set_attn_scale(static_cast<float>(loops.scale))
                       .set_bias(gradient.add("bias", {1, 1, extent, extent},
                                              Values(static_cast<size_t>(extent * extent), 0.0))),
                   // A probability is as wrong as its score of -120, some 1e-5 in float, and dQ is
                   // that times a scaled key of 120.
                   Tolerance{1e-2, 1e-3, 4e-3});
  }
}

TEST(KnownFailures, B50_StridesOfTheGradient) {
  const AttentionLoops loops{
      .b = 2, .hq = 2, .hk = 2, .hv = 2, .sq = 5, .skv = 7, .dqk = 8, .dv = 8, .scale = 0.25};
  Gradient other_order(loops);
  other_order.d_o->set_stride({5 * 2 * 8, 8, 2 * 8, 1});
  other_order.check(SDPA_backward_attributes().set_attn_scale(0.25f));
  Gradient repeated(loops);
  repeated.d_o->set_stride({0, 0, 0, 0});
  repeated.d_o_values.assign(repeated.d_o_values.size(), 1.0);
  repeated.check(SDPA_backward_attributes().set_attn_scale(0.25f));
}

// Whatever lies beyond the lengths may be NaN; gradients there are 0.
TEST(KnownFailures, B55_NaNBeyondTheLengths) {
  const Values rows{3, 0, 5}, keys{4, 6, 2};
  AttentionLoops loops{
      .b = 3, .hq = 2, .hk = 1, .hv = 1, .sq = 5, .skv = 6, .dqk = 8, .dv = 8, .scale = 0.25};
  loops.sees = [&](int64_t n, int64_t, int64_t i, int64_t j) {
    return static_cast<double>(i) < rows[static_cast<size_t>(n)] &&
           static_cast<double>(j) < keys[static_cast<size_t>(n)];
  };
  Gradient gradient(loops);
  gradient.compute_forward();
  const auto poison = [](Values& values, const Values& lengths, int64_t heads, int64_t extent,
                         int64_t size) {
    for (size_t i = 0; i < values.size(); ++i)
      if (static_cast<double>(static_cast<int64_t>(i) / size % extent) >=
          lengths[i / static_cast<size_t>(heads * extent * size)])
        values[i] = kNan;
  };
  poison(gradient.o_values, rows, 2, 5, 8);
  poison(gradient.d_o_values, rows, 2, 5, 8);
  poison(gradient.stats_values, rows, 2, 5, 1);
  poison(gradient.k_values, keys, 1, 6, 8);
  poison(gradient.v_values, keys, 1, 6, 8);
  gradient.check(SDPA_backward_attributes()
                     .set_attn_scale(0.25f)
                     .set_padding_mask(true)
                     .set_seq_len_q(gradient.add("rows", {3, 1, 1, 1}, rows, DataType_t::INT32))
                     .set_seq_len_kv(gradient.add("keys", {3, 1, 1, 1}, keys, DataType_t::INT32)));
}

// A plan without the note NONDETERMINISTIC gives the same bits every time.
TEST(KnownFailures, B57_TheSameBitsTwice) {
  const AttentionLoops loops{.hq = 8, .sq = 100, .skv = 100, .dqk = 16, .dv = 16, .scale = 0.25};
  Gradient gradient(loops);
  gradient.compute_forward();
  const auto expected = gradient.describe_gradient(
      SDPA_backward_attributes().set_attn_scale(0.25f).set_deterministic_algorithm(true));
  ASSERT_TRUE(gradient.graph.build(cpu(), {HeurMode_t::A}).is_good());
  ValuesByUid values;
  for (const auto& [tensor, content] : gradient.inputs) values[tensor->get_uid()] = content;
  std::vector<int64_t> outputs;
  for (const Expected& output : expected) outputs.push_back(output.tensor->get_uid());
  const PlanRun first = run_plan(gradient.graph, cpu(), 0, values, outputs);
  const PlanRun second = run_plan(gradient.graph, cpu(), 0, values, outputs);
  ASSERT_TRUE(first.error.is_good()) << first.error;
  for (int64_t uid : outputs) EXPECT_EQ(first.outputs.at(uid), second.outputs.at(uid));
}

TEST(KnownFailures, B60_RowsThatSeeNothing) {
  AttentionLoops loops{
      .hq = 2, .hk = 2, .hv = 2, .sq = 5, .skv = 2, .dqk = 8, .dv = 8, .scale = 0.25};
  loops.sees = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i - 3; };
  Gradient(loops).check(
      SDPA_backward_attributes().set_attn_scale(0.25f).set_causal_mask_bottom_right(true));
}

}  // namespace
}  // namespace warploom::test
