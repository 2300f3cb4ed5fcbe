#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "cpu/engine_runner.h"
#include "cpu/group_builder.h"

namespace warploom::test {
namespace {

using fusion::AnchorKind;
using SDPA = graph::SDPA_attributes;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Attention {
  int64_t batch = 1, heads = 2, key_heads = 2, value_heads = 2;
  int64_t queries = 5, keys = 7, key_size = 8, value_size = 8;
  std::string layout = "row_major";
  DataType_t type = DataType_t::FLOAT;
  std::optional<double> scale_value = 0.5;
  std::optional<double> scale_tensor{};
  std::optional<int64_t> left{}, right{};
  bool bottom_right = false;
  Values query_lengths{}, key_lengths{};  // with a padding mask
  Dims bias_dims{};
  DataType_t bias_type = DataType_t::FLOAT;
  bool hides_nan = false;  // masked keys and values hold NaN
  bool only_generic = false;
};

int64_t product(const Dims& dims) {
  int64_t result = 1;
  for (int64_t dim : dims) result *= dim;
  return result;
}

bool is_visible(const Attention& a, int64_t batch, int64_t i, int64_t j) {
  int64_t queries = a.queries, keys = a.keys;
  if (!a.key_lengths.empty()) {
    queries = static_cast<int64_t>(a.query_lengths[static_cast<size_t>(batch)]);
    keys = static_cast<int64_t>(a.key_lengths[static_cast<size_t>(batch)]);
  }
  const int64_t diagonal = i + (a.bottom_right ? keys - queries : 0);
  return i < queries && j < keys && (!a.right || j <= diagonal + *a.right) &&
         (!a.left || j > diagonal - *a.left);
}

struct Results {
  Values o, stats, maximum, sum;
};

Results attend(const Attention& a, const Values& q, const Values& k, const Values& v,
               const Values& bias) {
  Results results;
  const double scale = a.scale_tensor ? *a.scale_tensor : a.scale_value.value_or(1);
  for (int64_t b = 0; b < a.batch; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t i = 0; i < a.queries; ++i) {
        const int64_t kh = h / (a.heads / a.key_heads), vh = h / (a.heads / a.value_heads);
        Values scores(static_cast<size_t>(a.keys), -kInfinity);
        double maximum = -kInfinity, sum = 0;
        for (int64_t j = 0; j < a.keys; ++j) {
          if (!is_visible(a, b, i, j)) continue;
          double score = 0;
          for (int64_t d = 0; d < a.key_size; ++d)
            score += q[static_cast<size_t>(((b * a.heads + h) * a.queries + i) * a.key_size + d)] *
                     k[static_cast<size_t>(((b * a.key_heads + kh) * a.keys + j) * a.key_size + d)];
          score *= scale;
          if (!a.bias_dims.empty()) {
            const Dims at{b, h, i, j};
            int64_t index = 0;
            for (size_t x = 0; x < 4; ++x)
              index = index * a.bias_dims[x] + (a.bias_dims[x] == 1 ? 0 : at[x]);
            score += bias[static_cast<size_t>(index)];
          }
          scores[static_cast<size_t>(j)] = score;
          maximum = std::max(maximum, score);
        }
        Values row(static_cast<size_t>(a.value_size), 0);
        for (int64_t j = 0; j < a.keys; ++j) {
          const double score = scores[static_cast<size_t>(j)];
          if (score == -kInfinity) continue;
          const double weight = std::exp(score - maximum);
          sum += weight;
          for (int64_t d = 0; d < a.value_size; ++d)
            row[static_cast<size_t>(d)] +=
                weight *
                v[static_cast<size_t>(((b * a.value_heads + vh) * a.keys + j) * a.value_size + d)];
        }
        for (double value : row) results.o.push_back(sum == 0 ? 0 : value / sum);
        results.stats.push_back(sum == 0 ? -kInfinity : maximum + std::log(sum));
        results.maximum.push_back(maximum);
        results.sum.push_back(sum);
      }
  return results;
}

void check(const Attention& a) {
  GroupBuilder builder;
  const Dims q_dims{a.batch, a.heads, a.queries, a.key_size};
  const Dims k_dims{a.batch, a.key_heads, a.keys, a.key_size};
  const Dims v_dims{a.batch, a.value_heads, a.keys, a.value_size};
  const Dims o_dims{a.batch, a.heads, a.queries, a.value_size};
  const Dims row_dims{a.batch, a.heads, a.queries, 1};
  const Values q = rounded(random_values(product(q_dims), 1), a.type);
  Values k = rounded(random_values(product(k_dims), 2), a.type);
  Values v = rounded(random_values(product(v_dims), 3), a.type);
  const Values bias = rounded(random_values(product(a.bias_dims), 4, 4, 9), a.bias_type);
  if (a.hides_nan)
    for (int64_t b = 0; b < a.batch; ++b)
      for (int64_t j = 0; j < a.keys; ++j) {
        bool is_seen = false;
        for (int64_t i = 0; i < a.queries; ++i) is_seen |= is_visible(a, b, i, j);
        for (int64_t h = 0; h < a.value_heads && !is_seen; ++h)
          for (int64_t d = 0; d < a.value_size; ++d)
            v[static_cast<size_t>(((b * a.value_heads + h) * a.keys + j) * a.value_size + d)] =
                d % 2 == 0 ? kNan : kInfinity;
        for (int64_t h = 0; h < a.key_heads && !is_seen; ++h)
          for (int64_t d = 0; d < a.key_size; ++d)
            k[static_cast<size_t>(((b * a.key_heads + h) * a.keys + j) * a.key_size + d)] = kNan;
      }

  std::vector<ir::TensorId> inputs(15, ir::kNoTensor), outputs(5, ir::kNoTensor);
  inputs[SDPA::Q] = builder.stored("Q", a.type, q_dims, a.layout);
  inputs[SDPA::K] = builder.stored("K", a.type, k_dims, a.layout);
  inputs[SDPA::V] = builder.stored("V", a.type, v_dims, a.layout);
  ValuesById values{{inputs[SDPA::Q], q}, {inputs[SDPA::K], k}, {inputs[SDPA::V], v}};
  SDPA attributes;
  if (a.scale_tensor) {
    inputs[SDPA::Attn_scale] = builder.stored("scale", DataType_t::FLOAT, {1, 1, 1, 1});
    values[inputs[SDPA::Attn_scale]] = {*a.scale_tensor};
  } else if (a.scale_value) {
    attributes.set_attn_scale(static_cast<float>(*a.scale_value));
  }
  if (!a.bias_dims.empty()) {
    inputs[SDPA::Bias] = builder.stored("bias", a.bias_type, a.bias_dims);
    values[inputs[SDPA::Bias]] = bias;
  }
  if (!a.key_lengths.empty()) {
    attributes.set_padding_mask(true);
    inputs[SDPA::SEQ_LEN_Q] = builder.stored("lengths", DataType_t::INT32, {a.batch, 1, 1, 1});
    inputs[SDPA::SEQ_LEN_KV] = builder.stored("key lengths", DataType_t::INT32, {a.batch, 1, 1, 1});
    values[inputs[SDPA::SEQ_LEN_Q]] = a.query_lengths;
    values[inputs[SDPA::SEQ_LEN_KV]] = a.key_lengths;
  }
  if (a.left) attributes.set_diagonal_band_left_bound(*a.left);
  if (a.right) attributes.set_diagonal_band_right_bound(*a.right);
  if (a.bottom_right) attributes.set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT);
  outputs[SDPA::O] = builder.stored("O", a.type, o_dims, a.layout);
  outputs[SDPA::Stats] = builder.stored("Stats", DataType_t::FLOAT, row_dims);
  outputs[SDPA::Max] = builder.stored("Max", DataType_t::FLOAT, row_dims, "spread");
  outputs[SDPA::Sum_exp] = builder.stored("Sum_exp", DataType_t::FLOAT, row_dims);
  builder.anchor(AnchorKind::kAttention, attributes, inputs, outputs);
  builder.begin_epilogue(outputs[SDPA::O]);
  builder.store(builder.anchor_value());
  const Results results = attend(a, q, k, v, bias);
  const ValuesById expected{{outputs[SDPA::O], rounded(results.o, a.type)},
                            {outputs[SDPA::Stats], results.stats},
                            {outputs[SDPA::Max], results.maximum},
                            {outputs[SDPA::Sum_exp], results.sum}};
  // An error of a score is one of the exponent: relative to the result, it grows with the scale.
  const double scale = std::abs(a.scale_tensor ? *a.scale_tensor : a.scale_value.value_or(1));
  const double terms = 64 + 30 * scale;
  if (!a.only_generic) expect_engine("cpu.attention", builder.build(), values, expected, terms);
  if (!testing::Test::HasFatalFailure())
    expect_engine("cpu.generic", builder.build(), values, expected, terms);
}

TEST(CpuAttention, Tails) {
  for (int64_t size : {1, 2, 7, 8, 9, 31, 33, 63, 65, 97, 127, 129}) {
    check({.queries = size, .keys = 40});
    check({.queries = 3, .keys = size, .right = 0, .bottom_right = true});
    check({.queries = 9, .keys = 11, .key_size = size, .value_size = 5});
    check({.queries = 9, .keys = 11, .key_size = 3, .value_size = size});
  }
}

TEST(CpuAttention, Masks) {
  for (bool bottom_right : {false, true})
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>{70, 70}, {20, 300}, {130, 40}}) {
      check({.queries = queries, .keys = keys, .right = 0, .bottom_right = bottom_right});
      check({.queries = queries, .keys = keys, .left = 9, .bottom_right = bottom_right});
      check(
          {.queries = queries, .keys = keys, .left = 30, .right = 5, .bottom_right = bottom_right});
      check({.queries = queries, .keys = keys, .right = -3, .bottom_right = bottom_right});
      check(
          {.queries = queries, .keys = keys, .left = 0, .right = 0, .bottom_right = bottom_right});
    }
}

TEST(CpuAttention, PaddingMask) {
  for (bool bottom_right : {false, true})
    for (std::optional<int64_t> right : {std::optional<int64_t>{}, std::optional<int64_t>{0}})
      check({.batch = 4,
             .queries = 70,
             .keys = 90,
             .right = right,
             .bottom_right = bottom_right,
             .query_lengths = {70, 33, 1, 0},
             .key_lengths = {90, 1, 64, 90},
             .hides_nan = true});
  check({.batch = 2,
         .queries = 8,
         .keys = 300,
         .query_lengths = {8, 8},
         .key_lengths = {0, 257},
         .hides_nan = true});
}

TEST(CpuAttention, HiddenKeysAndValuesMayBeNan) {
  check({.queries = 20, .keys = 70, .right = 0, .hides_nan = true});
  check(
      {.queries = 20, .keys = 300, .left = 5, .right = 2, .bottom_right = true, .hides_nan = true});
}

// A value that some rows of a block see and others do not.
TEST(CpuAttention, NanReachesOnlyTheRowsThatSeeIt) {
  GroupBuilder builder;
  const Attention a{.batch = 1,
                    .heads = 1,
                    .key_heads = 1,
                    .value_heads = 1,
                    .queries = 40,
                    .keys = 40,
                    .right = 0};
  const Values q = random_values(40 * 8, 1), k = random_values(40 * 8, 2);
  Values v = random_values(40 * 8, 3);
  v[25 * 8 + 3] = kNan;
  v[30 * 8 + 1] = kInfinity;
  const auto tq = builder.stored("Q", DataType_t::FLOAT, {1, 1, 40, 8});
  const auto tk = builder.stored("K", DataType_t::FLOAT, {1, 1, 40, 8});
  const auto tv = builder.stored("V", DataType_t::FLOAT, {1, 1, 40, 8});
  const auto to = builder.stored("O", DataType_t::FLOAT, {1, 1, 40, 8});
  SDPA attributes;
  attributes.set_attn_scale(0.5F).set_causal_mask(true);
  builder.anchor(AnchorKind::kAttention, attributes, {tq, tk, tv}, {to});
  builder.begin_epilogue(to);
  builder.store(builder.anchor_value());
  expect_engine_and_generic("cpu.attention", builder.build(), {{tq, q}, {tk, k}, {tv, v}},
                            {{to, attend(a, q, k, v, {}).o}});
}

TEST(CpuAttention, GroupedHeads) {
  check({.batch = 2, .heads = 6, .key_heads = 2, .value_heads = 3, .queries = 33, .keys = 40});
  check({.batch = 2, .heads = 6, .key_heads = 1, .value_heads = 6, .queries = 33, .keys = 40});
  check({.batch = 2, .heads = 12, .key_heads = 4, .value_heads = 6, .queries = 1, .keys = 40});
}

TEST(CpuAttention, Bias) {
  for (const Dims& dims : {Dims{2, 3, 33, 70}, Dims{1, 1, 33, 70}, Dims{1, 3, 1, 70},
                           Dims{2, 1, 33, 1}, Dims{1, 1, 1, 1}})
    for (DataType_t type : {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16,
                            DataType_t::DOUBLE, DataType_t::INT32})
      check({.batch = 2,
             .heads = 3,
             .key_heads = 3,
             .value_heads = 3,
             .queries = 33,
             .keys = 70,
             .right = 4,
             .bias_dims = dims,
             .bias_type = type});
}

TEST(CpuAttention, Scale) {
  for (double scale : {0.125, 0.0, -0.7, 30.0}) {
    check({.queries = 33, .keys = 70, .scale_value = scale, .right = 4});
    check({.queries = 33, .keys = 70, .scale_value = {}, .scale_tensor = scale});
    check({.queries = 33, .keys = 70, .scale_value = scale, .bias_dims = {1, 1, 1, 70}});
  }
  check({.queries = 33, .keys = 70, .scale_value = {}});
}

TEST(CpuAttention, LayoutsAndTypes) {
  for (const char* layout : {"row_major", "padded", "channels_last", "reversed", "spread"})
    check({.batch = 2, .queries = 33, .keys = 70, .layout = layout, .right = 0});
  for (DataType_t type : {DataType_t::HALF, DataType_t::BFLOAT16})
    check({.batch = 2, .queries = 33, .keys = 70, .layout = "padded", .type = type, .right = 0});
  check({.batch = 2,
         .queries = 33,
         .keys = 70,
         .layout = "padded",
         .type = DataType_t::DOUBLE,
         .right = 0,
         .only_generic = true});
}

TEST(CpuAttention, LongSequences) {
  check({.batch = 1,
         .heads = 2,
         .key_heads = 1,
         .value_heads = 1,
         .queries = 300,
         .keys = 1100,
         .key_size = 16,
         .value_size = 24,
         .right = 0,
         .bottom_right = true});
}

TEST(CpuAttention, Empty) {
  check({.batch = 0});
  check({.queries = 0});
  check({.keys = 0});
}

}  // namespace
}  // namespace warploom::test
