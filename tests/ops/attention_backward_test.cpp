#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "harness/attention_loops.h"
#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using Backward = graph::SDPA_backward_attributes;
using Ports = std::vector<std::pair<size_t, Values>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr DataType_t kDouble = DataType_t::DOUBLE;

TensorPtr packed_output(const Dims& dims, DataType_t type = kDouble) {
  Dims strides(4, 1);
  for (size_t axis = 3; axis-- > 0;) strides[axis] = strides[axis + 1] * dims[axis + 1];
  return output(type, dims, strides);
}

struct Problem {
  AttentionLoops loops;
  TensorPtr q, k, v, o, d_o, stats, d_q, d_k, d_v;
  Values q_values, k_values, v_values, d_o_values;

  explicit Problem(const AttentionLoops& l)
      : loops(l),
        q(input("q", {l.b, l.hq, l.sq, l.dqk}, kDouble)),
        k(input("k", {l.b, l.hk, l.skv, l.dqk}, kDouble)),
        v(input("v", {l.b, l.hv, l.skv, l.dv}, kDouble)),
        o(input("o", {l.b, l.hq, l.sq, l.dv}, kDouble)),
        d_o(input("dO", {l.b, l.hq, l.sq, l.dv}, kDouble)),
        stats(input("stats", {l.b, l.hq, l.sq, 1}, kDouble)),
        d_q(packed_output(q->get_dim())),
        d_k(packed_output(k->get_dim())),
        d_v(packed_output(v->get_dim())),
        q_values(random_values(l.q_size(), 1)),
        k_values(random_values(l.k_size(), 2)),
        v_values(random_values(l.v_size(), 3)),
        d_o_values(random_values(l.o_size(), 4)) {}

  graph::Operation operation(Backward attributes) const {
    attributes.set_name("gradient");
    attributes.inputs.resize(std::size(Backward::kInputs));
    const TensorPtr tensors[] = {q, k, v, o, d_o, stats};
    std::copy(std::begin(tensors), std::end(tensors), attributes.inputs.begin());
    attributes.outputs.resize(std::size(Backward::kOutputs));
    attributes.outputs[Backward::dQ] = d_q;
    attributes.outputs[Backward::dK] = d_k;
    attributes.outputs[Backward::dV] = d_v;
    return attributes;
  }

  std::vector<Values> compute(const Backward& attributes, const Ports& more = {}) const {
    const auto forward = loops.forward(q_values, k_values, v_values);
    std::vector<Values> values(std::size(Backward::kInputs));
    values[Backward::Q] = q_values;
    values[Backward::K] = k_values;
    values[Backward::V] = v_values;
    values[Backward::O] = forward.o;
    values[Backward::dO] = d_o_values;
    values[Backward::Stats] = forward.stats;
    for (const auto& [port, content] : more) values[port] = content;
    return run(operation(attributes), values);
  }

  std::vector<Values> check(const Backward& attributes, const Ports& more = {}) const {
    const std::vector<Values> found = compute(attributes, more);
    const auto expected = loops.backward(q_values, k_values, v_values, d_o_values);
    expect_near(found[Backward::dQ], expected.q);
    expect_near(found[Backward::dK], expected.k);
    expect_near(found[Backward::dV], expected.v);
    return found;
  }

  double loss(const Values& q_now, const Values& k_now, const Values& v_now) const {
    const Values o_now = loops.forward(q_now, k_now, v_now).o;
    double sum = 0;
    for (size_t i = 0; i < o_now.size(); ++i) sum += o_now[i] * d_o_values[i];
    return sum;
  }
};

Backward scaled() {
  return Backward().set_attn_scale(0.5f);
}

Backward padded(Backward attributes, int64_t batch) {
  return attributes.set_padding_mask(true)
      .set_seq_len_q(input("rows", {batch, 1, 1, 1}, DataType_t::INT32))
      .set_seq_len_kv(input("keys", {batch, 1, 1, 1}, DataType_t::INT32));
}

const AttentionLoops kPlain{.b = 2, .hq = 4, .hk = 2, .hv = 1, .sq = 3, .skv = 5, .scale = 0.5};

// The loops themselves, so that a formula that both have wrong is noticed.
TEST(AttentionBackward, LoopsAgreeWithCentralDifferences) {
  AttentionLoops loops = kPlain;
  loops.sink = [](int64_t h) { return static_cast<double>(h) - 1; };
  loops.sees = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i + 1; };
  loops.factor = [](int64_t, int64_t, int64_t i, int64_t j) { return (i + j) % 3 == 0 ? 0 : 1.5; };
  double shift = 0;  // of the score of row 1 and key 2, and of the sink, of head 1 of batch 0
  bool shifts_sink = false;
  loops.added = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
    return !shifts_sink && n == 0 && h == 1 && i == 1 && j == 2 ? shift : 0;
  };
  const auto sink = loops.sink;
  loops.sink = [&, sink](int64_t h) { return sink(h) + (shifts_sink && h == 1 ? shift : 0); };
  const Problem p(loops);
  const auto exact = p.loops.backward(p.q_values, p.k_values, p.v_values, p.d_o_values);
  constexpr double kStep = 1e-5;
  const auto slope = [&](Values Problem::*moved, size_t at) {
    Problem plus = p, minus = p;
    (plus.*moved)[at] += kStep;
    (minus.*moved)[at] -= kStep;
    return (plus.loss(plus.q_values, plus.k_values, plus.v_values) -
            minus.loss(minus.q_values, minus.k_values, minus.v_values)) /
           (2 * kStep);
  };
  for (size_t i = 0; i < p.q_values.size(); ++i)
    EXPECT_NEAR(slope(&Problem::q_values, i), exact.q[i], 1e-8);
  for (size_t i = 0; i < p.k_values.size(); ++i)
    EXPECT_NEAR(slope(&Problem::k_values, i), exact.k[i], 1e-8);
  for (size_t i = 0; i < p.v_values.size(); ++i)
    EXPECT_NEAR(slope(&Problem::v_values, i), exact.v[i], 1e-8);
  const auto slope_of_shift = [&] {
    shift = kStep;
    const double above = p.loss(p.q_values, p.k_values, p.v_values);
    shift = -kStep;
    const double below = p.loss(p.q_values, p.k_values, p.v_values);
    shift = 0;
    return (above - below) / (2 * kStep);
  };
  EXPECT_NEAR(slope_of_shift(), exact.score[p.loops.score_at(0, 1, 1, 2)], 1e-8);
  shifts_sink = true;
  EXPECT_NEAR(slope_of_shift(), exact.sink[1], 1e-8);
}

TEST(AttentionBackward, Plain) {
  Problem(kPlain).check(scaled());
  AttentionLoops square{.b = 2, .hq = 2, .hk = 2, .hv = 2, .sq = 4, .skv = 4};
  Problem(square).check(Backward());
  Problem({.dqk = 1, .dv = 1}).check(Backward());  // one row, one key: dQ and dK are 0
  Problem(kPlain).check(Backward().set_attn_scale(input("scale", {1, 1, 1, 1})),
                        {{Backward::Attn_scale, {0.5}}});
}

TEST(AttentionBackward, Bounds) {
  for (int64_t shift : {0, 2}) {
    AttentionLoops loops = kPlain;
    loops.sees = [=](int64_t, int64_t, int64_t i, int64_t j) {
      return j <= i + shift && j > i + shift - 2;
    };
    Problem(loops).check(scaled()
                             .set_diagonal_alignment(shift == 0 ? DiagonalAlignment_t::TOP_LEFT
                                                                : DiagonalAlignment_t::BOTTOM_RIGHT)
                             .set_diagonal_band_right_bound(0)
                             .set_diagonal_band_left_bound(2));
  }
}

// B60: rows that see nothing have no gradient and give none; what is masked may be NaN.
TEST(AttentionBackward, PaddingMask) {
  const Values rows{2, 3}, keys{4, 0};
  AttentionLoops loops = kPlain;
  loops.sees = [&](int64_t n, int64_t, int64_t i, int64_t j) {
    return static_cast<double>(i) < rows[static_cast<size_t>(n)] &&
           static_cast<double>(j) < keys[static_cast<size_t>(n)];
  };
  Problem problem(loops);
  for (size_t i = 0; i < problem.k_values.size(); ++i)
    if (static_cast<int64_t>(i) / 4 % 5 >= keys[i / (2 * 5 * 4)])
      problem.k_values[i] = std::numeric_limits<double>::quiet_NaN();
  const auto found = problem.check(padded(scaled(), 2),
                                   {{Backward::SEQ_LEN_Q, rows}, {Backward::SEQ_LEN_KV, keys}});
  EXPECT_EQ(found[Backward::dQ].back(), 0);
  EXPECT_EQ(found[Backward::dK].back(), 0);
}

TEST(AttentionBackward, BiasAndItsGradient) {
  for (const Dims& dims : {Dims{2, 4, 3, 5}, Dims{1, 4, 3, 5}, Dims{1, 1, 3, 5}, Dims{2, 1, 1, 5},
                           Dims{3, 1}, Dims{1, 1, 1, 1}}) {
    const auto bias = input("bias", dims, kDouble);
    const Values values = random_values(bias->get_volume(), 7);
    const auto position = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
      const int64_t index[] = {n, h, i, j};
      int64_t place = 0;
      for (size_t axis = 0; axis < dims.size(); ++axis)
        place = place * dims[axis] + (dims[axis] == 1 ? 0 : index[4 - dims.size() + axis]);
      return static_cast<size_t>(place);
    };
    AttentionLoops loops = kPlain;
    loops.added = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
      return values[position(n, h, i, j)];
    };
    const Problem problem(loops);
    const auto found = problem.check(scaled().set_bias(bias).set_dbias(output(kDouble)),
                                     {{Backward::Bias, values}});
    const auto exact =
        loops.backward(problem.q_values, problem.k_values, problem.v_values, problem.d_o_values);
    Values expected(values.size());
    loops.for_each_row([&](int64_t n, int64_t h, int64_t i) {
      for (int64_t j = 0; j < loops.skv; ++j)
        expected[position(n, h, i, j)] += exact.score[loops.score_at(n, h, i, j)];
    });
    expect_near(found[Backward::dBias], expected);
  }
}

TEST(AttentionBackward, AlibiAndSinkWithItsGradient) {
  const Values logits{0.5, -2, 3, -kInfinity}, slopes{0.25, 0.0625, 0.015625, 0.00390625};
  AttentionLoops loops = kPlain;
  loops.sink = [&](int64_t h) { return logits[static_cast<size_t>(h)]; };
  loops.added = [&](int64_t, int64_t h, int64_t i, int64_t j) {
    return slopes[static_cast<size_t>(h)] * static_cast<double>(j - i);
  };
  const Problem problem(loops);
  const auto found = problem.check(scaled()
                                       .set_alibi_mask(true)
                                       .set_sink_token(input("sink", {1, 4, 1, 1}))
                                       .set_dsink_token(output(kDouble)),
                                   {{Backward::SINK_TOKEN, logits}});
  expect_near(
      found[Backward::DSINK_TOKEN],
      loops.backward(problem.q_values, problem.k_values, problem.v_values, problem.d_o_values)
          .sink);
}

TEST(AttentionBackward, Dropout) {
  AttentionLoops loops = kPlain;
  const double keep = 1 - static_cast<double>(0.3f);
  loops.factor = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
    const auto element = static_cast<uint64_t>(loops.score_at(n, h, i, j));
    return philox_word(5, 6, element) < keep * 0x1p32 ? 1 / keep : 0;
  };
  const auto number = [](const char* name) { return input(name, {1, 1, 1, 1}, DataType_t::INT64); };
  const auto found = Problem(loops).check(
      scaled().set_dropout(0.3f, number("seed"), number("offset")).set_rng_dump(output(kDouble)),
      {{Backward::Seed, {5}}, {Backward::Offset, {6}}});
  for (size_t i = 0; i < found[Backward::RNG_DUMP].size(); ++i)
    EXPECT_EQ(found[Backward::RNG_DUMP][i], philox_word(5, 6, i) < keep * 0x1p32 ? 1 : 0);

  const Values mask = random_values(2 * 4 * 3 * 5, 8);
  loops.factor = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
    return mask[loops.score_at(n, h, i, j)] * 2;
  };
  const auto scalar = [](const char* name) { return input(name, {1, 1, 1, 1}); };
  Problem(loops).check(
      scaled().set_dropout(input("mask", {2, 4, 3, 5}), scalar("scale"), scalar("scale_inv")),
      {{Backward::Dropout_mask, mask},
       {Backward::Dropout_scale, {2}},
       {Backward::Dropout_scale_inv, {0.5}}});
}

TEST(AttentionBackward, StridesAreHonoured) {
  Problem problem(kPlain);
  problem.q->set_stride({48, 4, 16, 1});  // [b, s, h, d]
  problem.d_o->set_stride({100, 1, 30, 5});
  problem.d_q->set_stride({48, 4, 16, 1});
  problem.d_k->set_stride({200, 1, 40, 3});
  problem.check(scaled());
}

TEST(AttentionBackward, EmptyTensors) {
  Problem({.b = 0, .hq = 2, .hk = 2, .hv = 2, .sq = 3, .skv = 4}).check(Backward());
  Problem({.sq = 0, .skv = 4}).check(Backward());
  Problem({.sq = 3, .skv = 0}).check(Backward());
}

// Two batches of 2 and 1 tokens: the tokens of both one after another, of one head.
TEST(AttentionBackward, RaggedBatches) {
  const Values lengths{2, 1};
  AttentionLoops loops{.b = 2, .sq = 3, .skv = 3, .scale = 0.5};
  loops.sees = [&](int64_t n, int64_t, int64_t i, int64_t j) {
    return static_cast<double>(std::max(i, j)) < lengths[static_cast<size_t>(n)];
  };
  const Problem padded_problem(loops);
  const auto exact = loops.backward(padded_problem.q_values, padded_problem.k_values,
                                    padded_problem.v_values, padded_problem.d_o_values);
  const auto pack = [](const Values& values, size_t d) {
    Values result(values.size(), std::numeric_limits<double>::quiet_NaN());
    std::copy_n(values.begin(), 2 * d, result.begin());
    std::copy_n(values.begin() + static_cast<long>(3 * d), d,
                result.begin() + static_cast<long>(2 * d));
    return result;
  };
  Problem ragged = padded_problem;
  for (const TensorPtr& tensor : {ragged.q, ragged.k, ragged.v, ragged.o, ragged.d_o, ragged.stats,
                                  ragged.d_q, ragged.d_k, ragged.d_v})
    tensor->set_ragged_offset(input("offsets", {3, 1, 1, 1}, DataType_t::INT32));
  const auto forward = loops.forward(ragged.q_values, ragged.k_values, ragged.v_values);
  Ports ports{{Backward::SEQ_LEN_Q, lengths},
              {Backward::SEQ_LEN_KV, lengths},
              {Backward::Q, pack(ragged.q_values, 4)},
              {Backward::K, pack(ragged.k_values, 4)},
              {Backward::V, pack(ragged.v_values, 3)},
              {Backward::O, pack(forward.o, 3)},
              {Backward::dO, pack(ragged.d_o_values, 3)},
              {Backward::Stats, pack(forward.stats, 1)}};
  const auto offsets = [](double d) { return Values{0, 2 * d, 3 * d}; };
  for (const auto& [port, d] : {std::pair{Backward::RAGGED_OFFSET_Q, 4},
                                {Backward::RAGGED_OFFSET_K, 4},
                                {Backward::RAGGED_OFFSET_V, 3},
                                {Backward::RAGGED_OFFSET_O, 3},
                                {Backward::RAGGED_OFFSET_dO, 3},
                                {Backward::RAGGED_OFFSET_Stats, 1},
                                {Backward::RAGGED_OFFSET_dQ, 4},
                                {Backward::RAGGED_OFFSET_dK, 4},
                                {Backward::RAGGED_OFFSET_dV, 3}})
    ports.emplace_back(port, offsets(d));
  const auto found = ragged.compute(padded(scaled(), 2), ports);
  expect_near(found[Backward::dQ], pack(exact.q, 4));
  expect_near(found[Backward::dK], pack(exact.k, 4));
  expect_near(found[Backward::dV], pack(exact.v, 3));
}

TEST(AttentionBackwardErrors, WhatIsMissingOrDoesNotFit) {
  const auto refused = [](
                           Backward attributes, error_code_t code,
                           std::initializer_list<std::string_view> parts,
                           const std::function<void(Problem&)>& change = [](Problem&) {}) {
    Problem problem(kPlain);
    change(problem);
    expect_refused(problem.operation(std::move(attributes)), code, parts);
  };
  constexpr auto kNotSet = error_code_t::ATTRIBUTE_NOT_SET;
  constexpr auto kShape = error_code_t::SHAPE_DEDUCTION_FAILED;
  refused(Backward(), kNotSet, {"SDPA_BWD \"gradient\"", "port dQ", "no dims"},
          [](Problem& p) { p.d_q->set_dim({}); });
  refused(Backward(), kNotSet, {"port dV", "no strides"},
          [](Problem& p) { p.d_v->set_stride({}); });
  refused(Backward(), kShape, {"port dK), dim 1", "4 in", "2 of"}, [](Problem& p) {
    p.d_k->set_dim({2, 4, 5, 4});
  });
  refused(Backward(), kShape, {"\"stats\" (port Stats), dims", "[2, 4, 3]", "[2, 4, 3, 1]"},
          [](Problem& p) {
            p.stats = input("stats", {2, 4, 3}, kDouble);
          });
  refused(Backward(), kShape, {"\"dO\" (port dO), dims", "[2, 4, 3, 3]"}, [](Problem& p) {
    p.d_o = input("dO", {2, 4, 3, 4}, kDouble);
  });
  refused(Backward().set_dbias(output(kDouble)), kNotSet, {"port Bias", "port dBias"});
  refused(Backward().set_dsink_token(output(kDouble)), kNotSet,
          {"port SINK_TOKEN", "port DSINK_TOKEN"});
  const auto scalar = input("scale", {1, 1, 1, 1});
  refused(Backward().set_dropout(input("mask", {1}), scalar, nullptr), kNotSet,
          {"port Dropout_scale_inv", "1 / scale"});
}

TEST(AttentionBackwardErrors, SmallFloats) {
  graph::SDPA_fp8_backward_attributes attributes;
  attributes.set_name("gradient");
  attributes.inputs.resize(std::size(attributes.kInputs));
  for (size_t port = 0; port < attributes.inputs.size(); ++port)
    if (!attributes.kInputs[port].is_optional) attributes.inputs[port] = input("x", {1, 1, 1, 1});
  for (size_t port = 0; port < std::size(attributes.kOutputs); ++port)
    attributes.outputs.push_back(output(kDouble, {1, 1, 1, 1}, {1, 1, 1, 1}));
  expect_refused(attributes, error_code_t::GRAPH_NOT_SUPPORTED, {"SDPA_FP8_BWD", "only declared"});
}

}  // namespace
}  // namespace warploom::test
