// Attention with slopes, dropout, sinks, pages, ragged batches and score modifiers.
#include <cmath>

#include <gtest/gtest.h>

#include <warploom/warploom.h>

#include "harness/attention_loops.h"
#include "harness/describe.h"
#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

using graph::SDPA_attributes;
using graph::TensorPtr;
using GraphPtr = std::shared_ptr<graph::Graph>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Attention {
  AttentionLoops loops;
  DataType_t type;
  graph::Graph graph;
  TensorPtr q, k, v;
  Values q_values, k_values, v_values;
  Inputs inputs;

  explicit Attention(const AttentionLoops& l, DataType_t io = DataType_t::FLOAT)
      : loops(l), type(io), graph(describe(io)) {
    q_values = random_values({l.q_size()}, type, 1);
    k_values = random_values({l.k_size()}, type, 2);
    v_values = random_values({l.v_size()}, type, 3);
    q = input(graph, "Q", {l.b, l.hq, l.sq, l.dqk});
    k = input(graph, "K", {l.b, l.hk, l.skv, l.dqk});
    v = input(graph, "V", {l.b, l.hv, l.skv, l.dv});
  }
  TensorPtr add(const std::string& name, const Dims& dims, const Values& values,
                DataType_t data_type = DataType_t::FLOAT) {
    const auto tensor = input(graph, name, dims, "row_major", data_type);
    inputs.emplace_back(tensor, values);
    return tensor;
  }
  std::array<TensorPtr, 2> describe_attention(SDPA_attributes attributes) {
    const auto results =
        graph.sdpa(q, k, v, attributes.set_name("attention").set_generate_stats(true));
    output(results[0], {loops.b, loops.hq, loops.sq, loops.dv}, "row_major");
    output(results[1], {}, "", DataType_t::FLOAT);
    return results;
  }
  void check(const SDPA_attributes& attributes) {
    const auto results = describe_attention(attributes);
    inputs.insert(inputs.end(), {{q, q_values}, {k, k_values}, {v, v_values}});
    const auto expected = loops.forward(q_values, k_values, v_values);
    expect_every_plan(
        graph, inputs,
        {{results[0], expected.o}, {results[1], expected.stats, Tolerance{1e-4, 1e-5}}});
  }
};

// softcap(bias + s) and softcap(s) + bias are two graphs.
TEST(KnownFailures, B32_OrderOfScoreModifiers) {
  namespace modifiers = graph::attn::score_modifiers;
  for (bool bias_first : {true, false}) {
    const AttentionLoops sizes{.hq = 2, .hk = 2, .hv = 2, .sq = 9, .skv = 12, .dqk = 8, .dv = 8};
    Attention attention(sizes);
    const Values values = random_values({2 * 9 * 12}, DataType_t::FLOAT, 7, -3, 3);
    const auto bias = attention.add("bias", {1, 2, 9, 12}, values);
    const auto cap = attention.graph.tensor(graph::Tensor_attributes(2.0f));
    attention.loops.added = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
      const double s = sizes.score(attention.q_values, attention.k_values, n, h, i, j);
      const double b = values[sizes.score_at(n, h, i, j)];
      return (bias_first ? 2 * std::tanh((s + b) / 2) : 2 * std::tanh(s / 2) + b) - s;
    };
    attention.check(SDPA_attributes().set_score_mod([=](GraphPtr graph, TensorPtr score) {
      modifiers::Softcap softcap;
      if (bias_first) return softcap.forward(graph, modifiers::bias(graph, score, bias), cap);
      return modifiers::bias(graph, softcap.forward(graph, score, cap), bias);
    }));
  }
}

TEST(KnownFailures, B33_AlibiGrowsWithDistance) {
  const Values of_8{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625};
  const Values of_6{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  for (const Values& slopes : {of_8, of_6}) {
    AttentionLoops loops{.b = 2, .sq = 33, .skv = 33, .dqk = 16, .dv = 16, .scale = 0.25};
    loops.hq = loops.hk = loops.hv = static_cast<int64_t>(slopes.size());
    loops.added = [&](int64_t, int64_t h, int64_t i, int64_t j) {
      return slopes[static_cast<size_t>(h)] * static_cast<double>(j - i);
    };
    loops.sees = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i; };
    Attention(loops, DataType_t::HALF)
        .check(SDPA_attributes().set_attn_scale(0.25f).set_alibi_mask(true).set_causal_mask(true));
  }
}

TEST(KnownFailures, B34_Dropout) {
  const AttentionLoops sizes{
      .b = 2, .hq = 2, .hk = 1, .hv = 1, .sq = 40, .skv = 70, .dqk = 16, .dv = 16, .scale = 0.25};
  const double keep = 1 - static_cast<double>(0.1f);
  Values first;
  for (const auto& [type, offset] :
       {std::pair{DataType_t::INT64, 5}, {DataType_t::INT32, 5}, {DataType_t::INT64, 6}}) {
    Attention attention(sizes);
    const auto seed = static_cast<uint64_t>(42), place = static_cast<uint64_t>(offset);
    Values kept;
    double count = 0;
    for (uint64_t element = 0; element < 2 * 2 * 40 * 70; ++element) {
      kept.push_back(philox_word(seed, place, element) < keep * 0x1p32 ? 1 : 0);
      count += kept.back();
    }
    EXPECT_NEAR(count / static_cast<double>(kept.size()), 0.9, 0.01);
    EXPECT_EQ(kept == first, offset == 5 && !first.empty());
    first = kept;
    attention.loops.factor = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
      return kept[sizes.score_at(n, h, i, j)] / keep;
    };
    attention.check(SDPA_attributes().set_attn_scale(0.25f).set_dropout(
        0.1f, attention.add("seed", {1, 1, 1, 1}, {42}, type),
        attention.add("offset", {1, 1, 1, 1}, {static_cast<double>(offset)}, type)));
  }
}

TEST(KnownFailures, B36_PagesOfLengthsThatDoNotDivide) {
  const Values lengths{1000, 1, 16, 17, 0, 999, 512, 33};
  AttentionLoops loops{
      .b = 8, .hq = 2, .hk = 1, .hv = 1, .sq = 1, .skv = 1000, .dqk = 8, .dv = 8, .scale = 0.25};
  loops.sees = [&](int64_t n, int64_t, int64_t, int64_t j) {
    return static_cast<double>(j) < lengths[static_cast<size_t>(n)];
  };
  Attention attention(loops);
  constexpr int64_t kPage = 16, kColumns = 63, kPages = 8 * kColumns;
  Values table, k_pages(kPages * kPage * 8, kNan), v_pages = k_pages;
  for (int64_t n = 0; n < 8; ++n)
    for (int64_t c = 0; c < kColumns; ++c) {
      const int64_t page = (n + 8 * c) * 5 % kPages;  // 5 and 504 have no common divisor
      table.push_back(static_cast<double>(page));
      for (int64_t r = 0; r < kPage && c * kPage + r < 1000; ++r)
        for (int64_t d = 0; d < 8; ++d) {
          const auto to = static_cast<size_t>((page * kPage + r) * 8 + d);
          const size_t from = loops.k_at(n, 0, c * kPage + r, d);
          k_pages[to] = attention.k_values[from];
          v_pages[to] = attention.v_values[from];
        }
    }
  attention.k = attention.add("K_pages", {kPages, 1, kPage, 8}, k_pages);
  attention.v = attention.add("V_pages", {kPages, 1, kPage, 8}, v_pages);
  const auto columns = attention.add("table", {8, 1, kColumns, 1}, table, DataType_t::INT32);
  const auto results = attention.describe_attention(
      SDPA_attributes()
          .set_attn_scale(0.25f)
          .set_padding_mask(true)
          .set_seq_len_q(attention.add("rows", {8, 1, 1, 1}, Values(8, 1.0), DataType_t::INT32))
          .set_seq_len_kv(attention.add("keys", {8, 1, 1, 1}, lengths, DataType_t::INT32))
          .set_paged_attention_k_table(columns)
          .set_paged_attention_v_table(columns)
          .set_paged_attention_max_seq_len_kv(1000));
  attention.inputs.emplace_back(attention.q, attention.q_values);
  const auto expected = loops.forward(attention.q_values, attention.k_values, attention.v_values);
  expect_every_plan(
      attention.graph, attention.inputs,
      {{results[0], expected.o}, {results[1], expected.stats, Tolerance{1e-4, 1e-5}}});
}

TEST(KnownFailures, B38_PagesThatCannotBe) {
  const auto code_of = [](const Dims& k_dims, const Dims& table_dims, int64_t most) {
    Attention attention({.b = 2, .hq = 2, .hk = 1, .hv = 1, .sq = 1, .skv = 40, .dqk = 8, .dv = 8});
    attention.k->set_dim(k_dims).set_stride({k_dims[1] * k_dims[2] * 8, k_dims[2] * 8, 8, 1});
    attention.v->set_dim(k_dims).set_stride(attention.k->get_stride());
    const auto table = input(attention.graph, "table", table_dims, "row_major", DataType_t::INT32);
    const auto lengths = input(attention.graph, "lengths", {2}, "row_major", DataType_t::INT32);
    attention.describe_attention(SDPA_attributes()
                                     .set_padding_mask(true)
                                     .set_seq_len_q(lengths)
                                     .set_seq_len_kv(lengths)
                                     .set_paged_attention_k_table(table)
                                     .set_paged_attention_v_table(table)
                                     .set_paged_attention_max_seq_len_kv(most));
    return attention.graph.validate().get_code();
  };
  EXPECT_EQ(code_of({6, 1, 16, 8}, {2, 1, 3, 1}, 40), error_code_t::OK);  // 16 does not divide 40
  EXPECT_EQ(code_of({6, 1, 0, 8}, {2, 1, 3, 1}, 40), error_code_t::INVALID_VALUE);
  EXPECT_EQ(code_of({6, 1, -16, 8}, {2, 1, 3, 1}, 40), error_code_t::INVALID_VALUE);
  EXPECT_EQ(code_of({6, 1, 16, 8}, {2, 1, 2, 1}, 40), error_code_t::INVALID_VALUE);
  EXPECT_EQ(code_of({6, 1, 16, 8}, {2, 1, 3, 1}, -1), error_code_t::INVALID_VALUE);
}

TEST(KnownFailures, B44_Sinks) {
  for (int64_t rows : {1, 20}) {
    AttentionLoops loops{.b = 2,
                         .hq = 2,
                         .hk = 2,
                         .hv = 2,
                         .sq = rows,
                         .skv = 50,
                         .dqk = 64,
                         .dv = 64,
                         .scale = 0.125};
    loops.sink = [](int64_t h) { return h == 0 ? 1.5 : -2; };
    const Values lengths{50, 0};  // the second batch sees the sink alone
    loops.sees = [&](int64_t n, int64_t, int64_t, int64_t) { return n == 0; };
    Attention attention(loops, DataType_t::BFLOAT16);
    attention.check(
        SDPA_attributes()
            .set_attn_scale(0.125f)
            .set_sink_token(attention.add("sink", {1, 2, 1, 1}, {1.5, -2}))
            .set_padding_mask(true)
            .set_seq_len_q(attention.add("rows", {2, 1, 1, 1}, Values(2, static_cast<double>(rows)),
                                         DataType_t::INT32))
            .set_seq_len_kv(attention.add("keys", {2, 1, 1, 1}, lengths, DataType_t::INT32)));
  }
}

// Tokens of all batches in a buffer with room for more, which holds NaN.
TEST(KnownFailures, B8_TokensFewerThanTheBuffer) {
  const Values rows{3, 5}, keys{7, 2};
  AttentionLoops loops{.b = 2, .sq = 6, .skv = 9, .dqk = 8, .dv = 8, .scale = 0.25};
  loops.sees = [&](int64_t n, int64_t, int64_t i, int64_t j) {
    return static_cast<double>(i) < rows[static_cast<size_t>(n)] &&
           static_cast<double>(j) < keys[static_cast<size_t>(n)];
  };
  Attention attention(loops);
  const auto expected = loops.forward(attention.q_values, attention.k_values, attention.v_values);
  const auto pack = [](const Values& values, const Values& lengths, int64_t extent, int64_t size) {
    Values packed(values.size(), kNan);
    auto place = packed.begin();
    for (size_t n = 0; n < 2; ++n)
      place = std::copy_n(values.begin() + static_cast<long>(n) * extent * size,
                          static_cast<long>(lengths[n]) * size, place);
    return packed;
  };
  const auto offsets = [&](const char* name, const Values& lengths, double size) {
    return attention.add(name, {3, 1, 1, 1},
                         {0, lengths[0] * size, (lengths[0] + lengths[1]) * size},
                         DataType_t::INT32);
  };
  attention.q->set_ragged_offset(offsets("q_offset", rows, 8));
  attention.k->set_ragged_offset(offsets("k_offset", keys, 8));
  attention.v->set_ragged_offset(offsets("v_offset", keys, 8));
  const auto results = attention.describe_attention(
      SDPA_attributes()
          .set_attn_scale(0.25f)
          .set_padding_mask(true)
          .set_seq_len_q(attention.add("rows", {2, 1, 1, 1}, rows, DataType_t::INT32))
          .set_seq_len_kv(attention.add("keys", {2, 1, 1, 1}, keys, DataType_t::INT32)));
  results[0]->set_ragged_offset(offsets("o_offset", rows, 8));
  attention.inputs.insert(attention.inputs.end(),
                          {{attention.q, pack(attention.q_values, rows, 6, 8)},
                           {attention.k, pack(attention.k_values, keys, 9, 8)},
                           {attention.v, pack(attention.v_values, keys, 9, 8)}});
  expect_every_plan(attention.graph, attention.inputs,
                    {{results[0], pack(expected.o, rows, 6, 8)},
                     {results[1], expected.stats, Tolerance{1e-4, 1e-5}}});
}

}  // namespace
}  // namespace warploom::test
