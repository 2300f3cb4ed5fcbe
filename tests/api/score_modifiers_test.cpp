// Attention with functions that modify its scores, against double loops, on every plan.
#include <cmath>

#include <gtest/gtest.h>

#include <warploom/warploom.h>

#include "harness/attention_loops.h"
#include "harness/describe.h"
#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

namespace modifiers = graph::attn::score_modifiers;
using GraphPtr = std::shared_ptr<graph::Graph>;
using graph::SDPA_attributes;
using graph::SDPA_backward_attributes;
using graph::TensorPtr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Problem {
  AttentionLoops loops;
  graph::Graph graph = describe();
  TensorPtr q, k, v;
  Values q_values, k_values, v_values;
  Inputs inputs;

  explicit Problem(const AttentionLoops& l) : loops(l) {
    q = add("Q", {l.b, l.hq, l.sq, l.dqk}, q_values, 1);
    k = add("K", {l.b, l.hk, l.skv, l.dqk}, k_values, 2);
    v = add("V", {l.b, l.hv, l.skv, l.dv}, v_values, 3);
  }
  TensorPtr add(const std::string& name, const Dims& dims, Values& values, uint64_t seed) {
    values = random_values(dims, DataType_t::FLOAT, seed);
    return add(name, dims, values);
  }
  TensorPtr add(const std::string& name, const Dims& dims, const Values& values,
                DataType_t type = DataType_t::FLOAT) {
    const auto tensor = input(graph, name, dims, "row_major", type);
    inputs.emplace_back(tensor, values);
    return tensor;
  }

  void check(SDPA_attributes attributes) {
    const auto [o, stats] =
        graph.sdpa(q, k, v, attributes.set_name("attention").set_generate_stats(true));
    output(o, {loops.b, loops.hq, loops.sq, loops.dv}, "row_major");
    output(stats);
    EXPECT_EQ(o->get_name(), "attention::O");
    EXPECT_EQ(stats->get_name(), "attention::Stats");
    const auto expected = loops.forward(q_values, k_values, v_values);
    expect_every_plan(graph, inputs,
                      {{o, expected.o}, {stats, expected.stats, Tolerance{1e-4, 1e-5}}});
  }
};

const AttentionLoops kSizes{
    .b = 2, .hq = 4, .hk = 2, .hv = 2, .sq = 9, .skv = 20, .dqk = 16, .dv = 8, .scale = 0.25};

SDPA_attributes with(SDPA_attributes::ScoreModifier modifier) {
  return SDPA_attributes().set_attn_scale(0.25f).set_score_mod(std::move(modifier));
}

TEST(ScoreModifiers, CausalMasks) {
  AttentionLoops loops = kSizes;
  loops.sees = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i; };
  Problem(loops).check(with(modifiers::causal_mask));
  loops.sees = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i + 11; };
  Problem(loops).check(with([](GraphPtr graph, TensorPtr score) {
    return modifiers::causal_mask_bottom_right(graph, score, 9, 20, nullptr, nullptr);
  }));
}

// B3, B5: lengths of a batch, one of them 0. T43: those of keys come first.
TEST(ScoreModifiers, PaddingAndBottomRightByLengths) {
  AttentionLoops loops = kSizes;
  const Values rows{5, 9}, keys{3, 0};
  const auto length = [](const Values& lengths, int64_t n) {
    return static_cast<int64_t>(lengths[static_cast<size_t>(n)]);
  };
  loops.sees = [&](int64_t n, int64_t, int64_t i, int64_t j) {
    return i < length(rows, n) && j < length(keys, n) && j <= i + length(keys, n) - length(rows, n);
  };
  Problem problem(loops);
  const auto seq_q = problem.add("rows", {2, 1, 1, 1}, rows, DataType_t::INT32);
  const auto seq_kv = problem.add("keys", {2, 1, 1, 1}, keys, DataType_t::INT32);
  problem.check(with([=](GraphPtr graph, TensorPtr score) {
    score = modifiers::padding_mask(graph, score, seq_kv, seq_q);
    return modifiers::causal_mask_bottom_right(graph, score, 9, 20, seq_q, seq_kv);
  }));
}

TEST(ScoreModifiers, SlidingWindow) {
  AttentionLoops loops = kSizes;
  loops.sees = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i + 12 && j > i + 11 - 4; };
  Problem(loops).check(with([](GraphPtr graph, TensorPtr score) {
    return modifiers::sliding_window_mask(graph, score, DiagonalAlignment_t::BOTTOM_RIGHT, 4, 1, 9,
                                          20, nullptr, nullptr);
  }));
}

TEST(ScoreModifiers, Alibi) {
  const Values of_6{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  AttentionLoops loops = kSizes;
  loops.hq = 6;
  loops.added = [&](int64_t, int64_t h, int64_t i, int64_t j) {
    return of_6[static_cast<size_t>(h)] * static_cast<double>(j - i);
  };
  Problem(loops).check(with([](GraphPtr graph, TensorPtr score) {
    TensorPtr slopes;
    int64_t bytes = -1;
    score = modifiers::alibi_mask(graph, score, slopes, 6, bytes);
    EXPECT_TRUE(slopes);
    EXPECT_EQ(bytes, 0);
    return score;
  }));
}

// The modifier comes after the scale and before the attention's own bias and bounds.
TEST(ScoreModifiers, BeforeBiasAndBounds) {
  AttentionLoops loops = kSizes;
  Problem problem(loops);
  Values first, second;
  const auto one = problem.add("one", {1, 4, 9, 20}, first, 8);
  const auto two = problem.add("two", {2, 1, 9, 20}, second, 9);
  problem.loops.added = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
    return first[static_cast<size_t>((h * 9 + i) * 20 + j)] +
           second[static_cast<size_t>((n * 9 + i) * 20 + j)];
  };
  problem.loops.sees = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i + 3; };
  problem.check(
      with([=](GraphPtr graph, TensorPtr score) { return modifiers::bias(graph, score, one); })
          .set_bias(two)
          .set_diagonal_band_right_bound(3));
}

TEST(ScoreModifiers, SinkAndAMaskOfDropout) {
  AttentionLoops loops = kSizes;
  const Values logits{0.5, -2, 3, -kInfinity};
  loops.sink = [&](int64_t h) { return logits[static_cast<size_t>(h)]; };
  Values mask;
  Problem problem(loops);
  const auto dropout = problem.add("mask", {2, 4, 9, 20}, mask, 5);
  problem.loops.factor = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
    return mask[problem.loops.score_at(n, h, i, j)] * 1.5;
  };
  problem.check(with([](GraphPtr, TensorPtr score) { return score; })
                    .set_sink_token(problem.add("sink", {1, 4, 1, 1}, logits))
                    .set_dropout(dropout, problem.add("scale", {1, 1, 1, 1}, Values{1.5})));
}

// --- Softcap, forward and backward: cap tanh(s / cap) ---

struct Capped {
  static constexpr double kCap = 0.75;
  AttentionLoops loops = kSizes;

  /// Loss sum(dO O) by loops, with the cap.
  double loss(const Values& q, const Values& k, const Values& v, const Values& d_o) const {
    double sum = 0;
    AttentionLoops capped = loops;
    capped.added = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
      AttentionLoops plain = loops;
      const double s = plain.score(q, k, n, h, i, j);
      return kCap * std::tanh(s / kCap) - s;
    };
    const Values o = capped.forward(q, k, v).o;
    for (size_t at = 0; at < o.size(); ++at) sum += o[at] * d_o[at];
    return sum;
  }
};

TEST(ScoreModifiers, SoftcapForward) {
  Capped capped;
  Problem problem(capped.loops);
  problem.loops.added = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
    const double s = capped.loops.score(problem.q_values, problem.k_values, n, h, i, j);
    return Capped::kCap * std::tanh(s / Capped::kCap) - s;
  };
  const auto cap = problem.graph.tensor(graph::Tensor_attributes(0.75f));
  problem.check(with([=](GraphPtr graph, TensorPtr score) {
    return modifiers::Softcap().forward(graph, score, cap);
  }));
}

// Gradients of scores that a function has modified, against central differences in double.
TEST(ScoreModifiers, SoftcapBackward) {
  Capped capped;
  capped.loops.b = 1;
  capped.loops.sq = 3;
  capped.loops.skv = 4;
  capped.loops.dqk = 2;
  capped.loops.dv = 2;
  const AttentionLoops& l = capped.loops;
  Problem problem(l);
  AttentionLoops with_cap = l;
  with_cap.added = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
    const double s = l.score(problem.q_values, problem.k_values, n, h, i, j);
    return Capped::kCap * std::tanh(s / Capped::kCap) - s;
  };
  const auto forward = with_cap.forward(problem.q_values, problem.k_values, problem.v_values);
  Values d_o_values;
  const Dims o_dims{l.b, l.hq, l.sq, l.dv};
  const auto d_o = problem.add("dO", o_dims, d_o_values, 4);
  const auto o = problem.add("O", o_dims, forward.o);
  const auto stats = problem.add("Stats", {l.b, l.hq, l.sq, 1}, forward.stats);
  const auto cap = problem.graph.tensor(graph::Tensor_attributes(0.75f));
  const auto softcap = std::make_shared<modifiers::Softcap>();
  const auto [d_q, d_k, d_v] =
      problem.graph.sdpa_backward(problem.q, problem.k, problem.v, o, d_o, stats,
                                  SDPA_backward_attributes()
                                      .set_name("gradient")
                                      .set_attn_scale(0.25f)
                                      .set_score_mod([=](GraphPtr graph, TensorPtr score) {
                                        return softcap->forward(graph, score, cap);
                                      })
                                      .set_score_mod_bprop([=](GraphPtr graph, TensorPtr d_score) {
                                        return softcap->backward(graph, d_score, cap);
                                      }));
  output(d_q, problem.q->get_dim(), "row_major");
  output(d_k, problem.k->get_dim(), "row_major");
  output(d_v, problem.v->get_dim(), "row_major");
  const auto slopes = [&](int which) {
    Values result;
    Values of[] = {problem.q_values, problem.k_values, problem.v_values};
    for (double& x : of[which]) {
      const double old = x;
      x = old + 1e-5;
      const double above = capped.loss(of[0], of[1], of[2], d_o_values);
      x = old - 1e-5;
      result.push_back((above - capped.loss(of[0], of[1], of[2], d_o_values)) / 2e-5);
      x = old;
    }
    return result;
  };
  const Tolerance close{1e-3, 1e-4};
  expect_every_plan(problem.graph, problem.inputs,
                    {{d_q, slopes(0), close}, {d_k, slopes(1), close}, {d_v, slopes(2), close}});
}

TEST(ScoreModifiers, WhatCannotBeComposedSaysSo) {
  Problem problem(kSizes);
  const auto seed = problem.add("blocks", {2, 4, 1, 1}, Values(8, 1.0), DataType_t::UINT8);
  const auto [o, stats] =
      problem.graph.sdpa(problem.q, problem.k, problem.v,
                         with(modifiers::causal_mask).set_block_mask(seed).set_name("attention"));
  output(o, {2, 4, 9, 8}, "row_major");
  const error_t error = problem.graph.validate();
  EXPECT_EQ(error.get_code(), error_code_t::GRAPH_NOT_SUPPORTED);
  EXPECT_NE(error.get_message().find("option score_mod"), std::string::npos) << error.get_message();
}

// A composed attention is a graph like any other: its JSON needs no function.
TEST(ScoreModifiers, Json) {
  Problem problem(kSizes);
  const auto [o, stats] =
      problem.graph.sdpa(problem.q, problem.k, problem.v, with(modifiers::causal_mask));
  output(o, {2, 4, 9, 8}, "row_major");
  ASSERT_TRUE(problem.graph.build_operation_graph(cpu()).is_good());
  const std::string text = problem.graph.to_json();
  graph::Graph copy;
  ASSERT_TRUE(copy.from_json(text).is_good());
  EXPECT_EQ(copy.to_json(), text);
}

}  // namespace
}  // namespace warploom::test
