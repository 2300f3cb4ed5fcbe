#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using graph::SDPA_attributes;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sizes {
  int64_t b = 1, hq = 1, hk = 1, hv = 1, sq = 1, skv = 1, dqk = 4, dv = 3;
};

// Everything by the formulas, element by element, with a mask given as a predicate of (batch, row,
// key).
struct Expected {
  Values o, stats, max, sum_exp;
};

template <class Mask>
Expected attention(const Sizes& s, double scale, const Values& q, const Values& k, const Values& v,
                   Mask sees, const Values& bias = {}) {
  Expected expected;
  for (int64_t b = 0; b < s.b; ++b)
    for (int64_t h = 0; h < s.hq; ++h)
      for (int64_t i = 0; i < s.sq; ++i) {
        std::vector<double> scores(static_cast<size_t>(s.skv), -kInfinity);
        double most = -kInfinity, sum = 0;
        for (int64_t j = 0; j < s.skv; ++j) {
          if (!sees(b, i, j)) continue;
          double dot = 0;
          for (int64_t d = 0; d < s.dqk; ++d)
            dot += q[static_cast<size_t>(((b * s.hq + h) * s.sq + i) * s.dqk + d)] *
                   k[static_cast<size_t>(((b * s.hk + h * s.hk / s.hq) * s.skv + j) * s.dqk + d)];
          dot *= scale;
          if (!bias.empty())
            dot += bias[static_cast<size_t>(((b * s.hq + h) * s.sq + i) * s.skv + j)];
          scores[static_cast<size_t>(j)] = dot;
          most = std::max(most, dot);
        }
        Values row(static_cast<size_t>(s.dv), 0.0);
        for (int64_t j = 0; j < s.skv && most != -kInfinity; ++j) {
          if (!sees(b, i, j)) continue;
          const double p = std::exp(scores[static_cast<size_t>(j)] - most);
          sum += p;
          for (int64_t d = 0; d < s.dv; ++d)
            row[static_cast<size_t>(d)] +=
                p * v[static_cast<size_t>(((b * s.hv + h * s.hv / s.hq) * s.skv + j) * s.dv + d)];
        }
        for (double value : row) expected.o.push_back(sum == 0 ? 0 : value / sum);
        expected.stats.push_back(sum == 0 ? -kInfinity : most + std::log(sum));
        expected.max.push_back(most);
        expected.sum_exp.push_back(sum);
      }
  return expected;
}

struct Problem {
  Sizes sizes;
  TensorPtr q, k, v, o;
  Values q_values, k_values, v_values;

  explicit Problem(const Sizes& s, DataType_t type = DataType_t::DOUBLE)
      : sizes(s),
        q(input("q", {s.b, s.hq, s.sq, s.dqk}, type)),
        k(input("k", {s.b, s.hk, s.skv, s.dqk}, type)),
        v(input("v", {s.b, s.hv, s.skv, s.dv}, type)),
        o(output(type, {s.b, s.hq, s.sq, s.dv}, {s.hq * s.sq * s.dv, s.sq * s.dv, s.dv, 1})),
        q_values(random_values(q->get_volume(), 1)),
        k_values(random_values(k->get_volume(), 2)),
        v_values(random_values(v->get_volume(), 3)) {}

  graph::Operation operation(SDPA_attributes attributes, bool with_statistics = true) const {
    if (attributes.name.empty()) attributes.set_name("attention");
    attributes.inputs.resize(std::size(SDPA_attributes::kInputs));
    attributes.inputs[SDPA_attributes::Q] = q;
    attributes.inputs[SDPA_attributes::K] = k;
    attributes.inputs[SDPA_attributes::V] = v;
    attributes.outputs.resize(std::size(SDPA_attributes::kOutputs));
    attributes.outputs[SDPA_attributes::O] = o;
    if (with_statistics) {
      attributes.set_generate_stats(true);
      for (size_t port : {SDPA_attributes::Stats, SDPA_attributes::Max, SDPA_attributes::Sum_exp})
        attributes.outputs[port] = output(DataType_t::DOUBLE);
    }
    return attributes;
  }

  template <class Mask>
  void check(const SDPA_attributes& attributes, double scale, Mask sees,
             std::vector<std::pair<size_t, Values>> more = {}, const Values& full_bias = {}) const {
    std::vector<Values> values(std::size(SDPA_attributes::kInputs));
    values[SDPA_attributes::Q] = q_values;
    values[SDPA_attributes::K] = k_values;
    values[SDPA_attributes::V] = v_values;
    for (auto& [port, content] : more) values[port] = content;
    const std::vector<Values> found = run(operation(attributes), values);
    const Expected expected =
        attention(sizes, scale, q_values, k_values, v_values, sees, full_bias);
    expect_near(found[SDPA_attributes::O], expected.o);
    expect_near(found[SDPA_attributes::Stats], expected.stats);
    expect_near(found[SDPA_attributes::Max], expected.max);
    expect_near(found[SDPA_attributes::Sum_exp], expected.sum_exp);
  }
};

const auto kAll = [](int64_t, int64_t, int64_t) { return true; };

SDPA_attributes causal(DiagonalAlignment_t alignment) {
  return SDPA_attributes()
      .set_attn_scale(0.5f)
      .set_diagonal_alignment(alignment)
      .set_diagonal_band_right_bound(0);
}

TEST(Attention, Plain) {
  const Problem problem({.b = 2, .hq = 3, .hk = 3, .hv = 3, .sq = 4, .skv = 5});
  problem.check(SDPA_attributes().set_attn_scale(0.25f), 0.25, kAll);
  problem.check(SDPA_attributes(), 1, kAll);  // no scale unless one is given
}

// B31: K and V may have different numbers of heads.
TEST(Attention, GroupedHeads) {
  Problem({.b = 2, .hq = 8, .hk = 4, .hv = 2, .sq = 3, .skv = 4})
      .check(SDPA_attributes().set_attn_scale(0.5f), 0.5, kAll);
  Problem({.b = 1, .hq = 4, .hk = 1, .hv = 1, .sq = 3, .skv = 4})
      .check(SDPA_attributes().set_attn_scale(0.5f), 0.5, kAll);
}

// B1, B2
TEST(Attention, CausalAlignments) {
  Problem({.hq = 4, .hk = 2, .hv = 2, .sq = 1, .skv = 9})
      .check(causal(DiagonalAlignment_t::TOP_LEFT), 0.5,
             [](int64_t, int64_t, int64_t j) { return j == 0; });
  Problem({.hq = 4, .hk = 2, .hv = 2, .sq = 1, .skv = 9})
      .check(causal(DiagonalAlignment_t::BOTTOM_RIGHT), 0.5, kAll);
  Problem({.sq = 3, .skv = 5})
      .check(causal(DiagonalAlignment_t::TOP_LEFT), 0.5,
             [](int64_t, int64_t i, int64_t j) { return j <= i; });
  Problem({.sq = 3, .skv = 5})
      .check(causal(DiagonalAlignment_t::BOTTOM_RIGHT), 0.5,
             [](int64_t, int64_t i, int64_t j) { return j <= i + 2; });
}

SDPA_attributes padded(SDPA_attributes attributes, int64_t batch) {
  return attributes.set_padding_mask(true)
      .set_seq_len_q(input("lengths_q", {batch, 1, 1, 1}, DataType_t::INT32))
      .set_seq_len_kv(input("lengths_kv", {batch, 1, 1, 1}, DataType_t::INT32));
}

// B3: directly, and as the lengths of a larger problem.
TEST(Attention, MoreQueriesThanKeysBottomRight) {
  const auto sees = [](int64_t, int64_t i, int64_t j) { return i < 5 && j < 2 && j <= i - 3; };
  const Problem direct({.sq = 5, .skv = 2});
  direct.check(causal(DiagonalAlignment_t::BOTTOM_RIGHT), 0.5, sees);
  const std::vector<Values> found = run(direct.operation(causal(DiagonalAlignment_t::BOTTOM_RIGHT)),
                                        {direct.q_values, direct.k_values, direct.v_values});
  EXPECT_EQ(Values(found[0].begin(), found[0].begin() + 9), Values(9, 0.0));
  EXPECT_EQ(found[SDPA_attributes::Stats][2], -kInfinity);
  EXPECT_GT(found[SDPA_attributes::Stats][3], -kInfinity);

  Problem({.sq = 8, .skv = 7})
      .check(padded(causal(DiagonalAlignment_t::BOTTOM_RIGHT), 1), 0.5, sees,
             {{SDPA_attributes::SEQ_LEN_Q, {5}}, {SDPA_attributes::SEQ_LEN_KV, {2}}});
}

// B5, B8, B42: lengths 0 and full; what is masked may be NaN; [b] as [b, 1, 1, 1].
TEST(Attention, PaddingMask) {
  const Sizes sizes{.b = 3, .hq = 2, .hk = 2, .hv = 2, .sq = 4, .skv = 6};
  const int64_t q_lengths[] = {2, 3, 4}, kv_lengths[] = {0, 5, 6};
  Problem problem(sizes);
  for (size_t i = 0; i < problem.k_values.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / sizes.dqk % sizes.skv;
    const auto batch = static_cast<int64_t>(i) / (sizes.dqk * sizes.skv * sizes.hk);
    if (row >= kv_lengths[batch]) problem.k_values[i] = kNan;
  }
  for (size_t i = 0; i < problem.v_values.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / sizes.dv % sizes.skv;
    const auto batch = static_cast<int64_t>(i) / (sizes.dv * sizes.skv * sizes.hv);
    if (row >= kv_lengths[batch]) problem.v_values[i] = kNan;
  }
  const auto sees = [&](int64_t b, int64_t i, int64_t j) {
    return i < q_lengths[b] && j < kv_lengths[b];
  };
  const std::vector<std::pair<size_t, Values>> lengths{{SDPA_attributes::SEQ_LEN_Q, {2, 3, 4}},
                                                       {SDPA_attributes::SEQ_LEN_KV, {0, 5, 6}}};
  problem.check(padded(SDPA_attributes().set_attn_scale(0.5f), 3), 0.5, sees, lengths);
  problem.check(SDPA_attributes()
                    .set_attn_scale(0.5f)
                    .set_padding_mask(true)
                    .set_seq_len_q(input("lengths_q", {3}, DataType_t::INT64))
                    .set_seq_len_kv(input("lengths_kv", {3}, DataType_t::INT32, {4})),
                0.5, sees, lengths);
}

TEST(Attention, LengthsOutsideTheirRangeAreClamped) {
  Problem({.b = 2, .sq = 3, .skv = 4})
      .check(padded(SDPA_attributes(), 2), 1, [](int64_t b, int64_t, int64_t) { return b == 0; },
             {{SDPA_attributes::SEQ_LEN_Q, {99, 3}}, {SDPA_attributes::SEQ_LEN_KV, {2e9, -5}}});
}

// B27, B28
TEST(Attention, LeftBoundCountsTheDiagonal) {
  const Problem problem({.sq = 8, .skv = 8});
  problem.check(causal(DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_left_bound(3), 0.5,
                [](int64_t, int64_t i, int64_t j) { return i - 2 <= j && j <= i; });
  problem.check(SDPA_attributes().set_attn_scale(0.5f).set_sliding_window_length(3), 0.5,
                [](int64_t, int64_t i, int64_t j) { return j >= i - 2; });
}

// Any bound is a formula: no row is special.
TEST(Attention, EveryBandByItsFormula) {
  for (auto alignment : {DiagonalAlignment_t::TOP_LEFT, DiagonalAlignment_t::BOTTOM_RIGHT})
    for (const auto& [sq, skv] : {std::pair<int64_t, int64_t>{5, 7}, {7, 5}, {4, 4}})
      for (int64_t left : {-2, 0, 1, 4, 100})
        for (int64_t right : {-100, -2, -1, 0, 3, 100}) {
          const int64_t shift = alignment == DiagonalAlignment_t::BOTTOM_RIGHT ? skv - sq : 0;
          Problem({.sq = sq, .skv = skv})
              .check(SDPA_attributes()
                         .set_attn_scale(0.5f)
                         .set_diagonal_alignment(alignment)
                         .set_diagonal_band_left_bound(left)
                         .set_diagonal_band_right_bound(right),
                     0.5, [=](int64_t, int64_t i, int64_t j) {
                       return j > i + shift - left && j <= i + shift + right;
                     });
        }
}

// B12
TEST(Attention, BiasBroadcasts) {
  const Sizes s{.b = 2, .hq = 3, .hk = 3, .hv = 3, .sq = 4, .skv = 5};
  for (const Dims& dims : {Dims{1, 1, 4, 5}, Dims{1, 3, 4, 5}, Dims{2, 1, 4, 5}, Dims{2, 3, 4, 5},
                           Dims{2, 1, 1, 5}, Dims{1, 1, 1, 5}, Dims{4, 5}, Dims{1}}) {
    const TensorPtr bias = input("bias", dims);
    const Values values = random_values(bias->get_volume(), 5);
    Values full;
    const auto extent = [&](size_t axis) {
      const size_t missing = 4 - dims.size();
      return axis < missing ? 1 : dims[axis - missing];
    };
    for (int64_t b = 0; b < s.b; ++b)
      for (int64_t h = 0; h < s.hq; ++h)
        for (int64_t i = 0; i < s.sq; ++i)
          for (int64_t j = 0; j < s.skv; ++j) {
            const int64_t at =
                ((b % extent(0) * extent(1) + h % extent(1)) * extent(2) + i % extent(2)) *
                    extent(3) +
                j % extent(3);
            full.push_back(values[static_cast<size_t>(at)]);
          }
    Problem(s).check(SDPA_attributes().set_attn_scale(0.5f).set_bias(bias), 0.5, kAll,
                     {{SDPA_attributes::Bias, values}}, full);
  }
}

// A bias of -inf masks; a row of nothing else gives O = 0.
TEST(Attention, MinusInfinityAsBias) {
  const Values bias{0, -kInfinity, 0, -kInfinity, -kInfinity, -kInfinity};
  Problem({.sq = 2, .skv = 3})
      .check(SDPA_attributes().set_bias(input("bias", {1, 1, 2, 3})), 1, kAll,
             {{SDPA_attributes::Bias, bias}}, bias);
}

TEST(Attention, ScaleAsTensorOrScalar) {
  const Problem problem({.sq = 2, .skv = 3});
  problem.check(SDPA_attributes().set_attn_scale(input("scale", {1, 1, 1, 1})), 0.25, kAll,
                {{SDPA_attributes::Attn_scale, {0.25}}});
  const auto stored = std::make_shared<graph::Tensor_attributes>(0.25f);
  problem.check(SDPA_attributes().set_attn_scale(stored), 0.25, kAll,
                {{SDPA_attributes::Attn_scale, {0.25}}});
}

// B19, B41: scores far from zero.
TEST(Attention, ScoresFarFromZero) {
  Problem problem({.sq = 3, .skv = 33});
  for (double shift : {-100.0, 100.0, -6e4, 6e4}) {
    for (size_t i = 0; i < problem.q_values.size(); i += 4) problem.q_values[i] = 1;
    for (size_t i = 0; i < problem.k_values.size(); i += 4) problem.k_values[i] = shift;
    problem.check(SDPA_attributes(), 1, kAll);
  }
}

TEST(Attention, NanInAVisibleKeyReachesItsRows) {
  Problem problem({.sq = 3, .skv = 3});
  problem.k_values[4] = kNan;  // key 1
  const std::vector<Values> found = run(problem.operation(causal(DiagonalAlignment_t::TOP_LEFT)),
                                        {problem.q_values, problem.k_values, problem.v_values});
  EXPECT_FALSE(std::isnan(found[0][0]));
  EXPECT_TRUE(std::isnan(found[0][3]));
  EXPECT_TRUE(std::isnan(found[SDPA_attributes::Stats][2]));
}

// B39
TEST(Attention, EmptyTensors) {
  Problem({.b = 0, .hq = 2, .hk = 2, .hv = 2, .sq = 3, .skv = 4}).check(SDPA_attributes(), 1, kAll);
  Problem({.hq = 2, .hk = 2, .hv = 2, .sq = 0, .skv = 4}).check(SDPA_attributes(), 1, kAll);
  Problem({.hq = 2, .hk = 2, .hv = 2, .sq = 3, .skv = 0}).check(SDPA_attributes(), 1, kAll);
  Problem({.sq = 3, .skv = 2, .dqk = 0, .dv = 2}).check(SDPA_attributes(), 1, kAll);
  Problem({.hq = 0, .hk = 0, .hv = 0, .sq = 3, .skv = 2}).check(SDPA_attributes(), 1, kAll);
}

TEST(Attention, StridesAreHonoured) {
  Problem problem({.b = 2, .hq = 2, .hk = 2, .hv = 2, .sq = 3, .skv = 4, .dqk = 2, .dv = 2});
  problem.q->set_stride({12, 2, 4, 1});   // [b, s, h, d]
  problem.k->set_stride({100, 1, 7, 3});  // d is not the fastest
  problem.o->set_stride({12, 2, 4, 1});
  problem.check(SDPA_attributes().set_attn_scale(0.5f), 0.5, kAll);
}

TEST(AttentionInference, Statistics) {
  const Problem problem({.b = 2, .hq = 3, .hk = 3, .hv = 3, .sq = 4, .skv = 5});
  graph::Operation operation = problem.operation(SDPA_attributes());
  ASSERT_TRUE(ops::infer_and_validate(operation, kAllFloat).is_good());
  const auto& stats = *std::get<SDPA_attributes>(operation).outputs[SDPA_attributes::Stats];
  EXPECT_EQ(stats.get_dim(), (Dims{2, 3, 4, 1}));
  EXPECT_EQ(stats.get_stride(), (Dims{12, 4, 1, 1}));
}

// --- Errors ---

void expect_attention_refused(const SDPA_attributes& attributes, error_code_t code,
                              std::initializer_list<std::string_view> parts,
                              const Sizes& sizes = {.b = 2, .sq = 3, .skv = 5}) {
  expect_refused(Problem(sizes).operation(attributes), code, parts);
}

TEST(AttentionErrors, Shapes) {
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED;
  const auto refuse = [&](auto change, std::initializer_list<std::string_view> parts,
                          error_code_t code) {
    Problem problem({.b = 2, .hq = 4, .hk = 2, .hv = 2, .sq = 3, .skv = 5});
    change(problem);
    expect_refused(problem.operation({}), code, parts);
  };
  refuse(
      [](Problem& p) {
        p.q = input("q", {4, 3, 4});
      },
      {"SDPA \"attention\"", "\"q\" (port Q)", "3 dims", "accepted 4"}, shape);
  refuse(
      [](Problem& p) {
        p.k = input("k", {3, 2, 5, 4});
      },
      {"\"k\" (port K), dim 0 (batch)", "found 3", "accepted 2", "port Q"}, shape);
  refuse([](Problem& p) { p.v = input("v", {1, 2, 5, 3}); }, {"\"v\" (port V), dim 0"}, shape);
  refuse(
      [](Problem& p) {
        p.k = input("k", {2, 2, 5, 6});
      },
      {"\"k\" (port K), dim 3 (head size)", "found 6", "accepted 4"}, shape);
  refuse(
      [](Problem& p) {
        p.v = input("v", {2, 2, 6, 3});
      },
      {"\"v\" (port V), dim 2 (sequence)", "found 6", "accepted 5", "port K"}, shape);
  refuse(
      [](Problem& p) {
        p.k = input("k", {2, 3, 5, 4});
      },
      {"\"k\" (port K), dim 1 (heads)", "found 3", "divisor of 4"},
      error_code_t::GRAPH_NOT_SUPPORTED);
  refuse(
      [](Problem& p) {
        p.v = input("v", {2, 0, 5, 3});
      },
      {"\"v\" (port V), dim 1 (heads)"}, error_code_t::GRAPH_NOT_SUPPORTED);
  refuse([](Problem& p) { p.o->set_dim({2, 4, 3, 4}); }, {"port O), dim 3", "4 in", "3 of"}, shape);
  refuse([](Problem& p) { p.o->set_dim({}); }, {"port O", "no dims"},
         error_code_t::ATTRIBUTE_NOT_SET);
  refuse([](Problem& p) { p.o->set_stride({}); }, {"port O", "no strides"},
         error_code_t::ATTRIBUTE_NOT_SET);
}

TEST(AttentionErrors, AScoreModifierIsNotPartOfTheOperation) {
  expect_attention_refused(SDPA_attributes().set_score_mod([](std::shared_ptr<graph::Graph>,
                                                              TensorPtr score) { return score; }),
                           error_code_t::GRAPH_NOT_SUPPORTED,
                           {"SDPA \"attention\"", "option score_mod"});
}

TEST(AttentionErrors, ScaleAndBias) {
  using Attributes = SDPA_attributes;
  const auto scale = input("scale", {1, 1, 1, 1});
  expect_attention_refused(Attributes().set_attn_scale(scale).set_attn_scale(0.5f),
                           error_code_t::ATTRIBUTE_NOT_SET,
                           {"\"scale\" (port Attn_scale)", "value 0.5", "one of them"});
  expect_attention_refused(Attributes().set_attn_scale(NAN), error_code_t::INVALID_VALUE,
                           {"field attn_scale_value", "nan"});
  expect_attention_refused(Attributes().set_attn_scale(input("scale", {2, 1, 1, 1})),
                           error_code_t::SHAPE_DEDUCTION_FAILED, {"\"scale\"", "one element"});
  expect_attention_refused(Attributes().set_bias(input("bias", {1, 1, 3, 5}, DataType_t::BOOLEAN)),
                           error_code_t::GRAPH_NOT_SUPPORTED,
                           {"\"bias\" (port Bias), data type", "BOOLEAN"});
  expect_attention_refused(Attributes().set_bias(input("bias", {1, 1, 3, 4})),
                           error_code_t::SHAPE_DEDUCTION_FAILED,
                           {"\"bias\" (port Bias), dim 3", "4 in [1, 1, 3, 4]", "1 or 5"});
  expect_attention_refused(Attributes().set_bias(input("bias", {1, 1, 1, 3, 5})),
                           error_code_t::SHAPE_DEDUCTION_FAILED, {"\"bias\"", "5 dims"});
}

TEST(AttentionErrors, LengthsAndBounds) {
  using Attributes = SDPA_attributes;
  const auto lengths = input("lengths", {2, 1, 1, 1}, DataType_t::INT32);
  const auto missing = error_code_t::ATTRIBUTE_NOT_SET;
  expect_attention_refused(Attributes().set_padding_mask(true), missing,
                           {"port SEQ_LEN_Q", "padding_mask"});
  expect_attention_refused(Attributes().set_padding_mask(true).set_seq_len_q(lengths), missing,
                           {"port SEQ_LEN_KV", "padding_mask"});
  expect_attention_refused(Attributes().set_seq_len_q(lengths).set_seq_len_kv(lengths), missing,
                           {"field padding_mask", "false with tensor \"lengths\""});
  expect_attention_refused(
      Attributes().set_padding_mask(true).set_seq_len_q(lengths).set_seq_len_kv(
          input("lengths", {2, 1}, DataType_t::INT32)),
      error_code_t::SHAPE_DEDUCTION_FAILED,
      {"port SEQ_LEN_KV), dims", "[2, 1]", "[2, 1, 1, 1] or [2]"});
  expect_attention_refused(
      Attributes().set_padding_mask(true).set_seq_len_q(lengths).set_seq_len_kv(
          input("lengths", {2, 1, 1, 1})),
      error_code_t::GRAPH_NOT_SUPPORTED,
      {"port SEQ_LEN_KV), data type", "FLOAT", "INT32 or INT64"});
  expect_attention_refused(Attributes().set_diagonal_band_left_bound(int64_t{1} << 40),
                           error_code_t::INVALID_VALUE, {"field left_bound", "1099511627776"});
  expect_attention_refused(Attributes().set_diagonal_band_right_bound(INT64_MIN),
                           error_code_t::INVALID_VALUE, {"field right_bound"});
}

TEST(AttentionErrors, TypesAndStats) {
  const auto code = error_code_t::GRAPH_NOT_SUPPORTED;
  Problem integers({}, DataType_t::INT8);
  expect_refused(integers.operation({}), code, {"\"q\" (port Q), data type", "INT8", "BFLOAT16"});
  Problem integer_o({});
  integer_o.o->set_data_type(DataType_t::INT32);
  expect_refused(integer_o.operation({}), code, {"port O), data type", "INT32"});
  expect_refused(Problem({}).operation(SDPA_attributes().set_compute_data_type(DataType_t::INT32)),
                 code, {"compute data type", "INT32"});
  expect_refused(Problem({}).operation(SDPA_attributes().set_generate_stats(true), false),
                 error_code_t::ATTRIBUTE_NOT_SET, {"port Stats", "generate_stats"});
}

// What others refuse for the sake of an engine.
TEST(AttentionErrors, NotThese) {
  expect_accepted(Problem({.sq = 5, .skv = 2, .dqk = 5, .dv = 7})
                      .operation(causal(DiagonalAlignment_t::BOTTOM_RIGHT)));
  expect_accepted(
      Problem({.sq = 5, .skv = 2}).operation(SDPA_attributes().set_diagonal_band_left_bound(2)));
  expect_accepted(Problem({.sq = 1, .skv = 1}).operation({}));
}

}  // namespace
}  // namespace warploom::test
