// Attention's options beyond masks: slopes, dropout, sinks, blocks, pages, ragged batches.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "harness/attention_loops.h"
#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using SDPA = graph::SDPA_attributes;
using Ports = std::vector<std::pair<size_t, Values>>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr DataType_t kDouble = DataType_t::DOUBLE;

struct Problem {
  AttentionLoops loops;
  TensorPtr q, k, v, o;
  Values q_values, k_values, v_values;

  explicit Problem(const AttentionLoops& l)
      : loops(l),
        q(input("q", {l.b, l.hq, l.sq, l.dqk}, kDouble)),
        k(input("k", {l.b, l.hk, l.skv, l.dqk}, kDouble)),
        v(input("v", {l.b, l.hv, l.skv, l.dv}, kDouble)),
        o(output(kDouble, {l.b, l.hq, l.sq, l.dv}, {l.hq * l.sq * l.dv, l.sq * l.dv, l.dv, 1})),
        q_values(random_values(l.q_size(), 1)),
        k_values(random_values(l.k_size(), 2)),
        v_values(random_values(l.v_size(), 3)) {}

  graph::Operation operation(SDPA attributes) const {
    attributes.set_name("attention").set_generate_stats(true);
    attributes.inputs.resize(std::size(SDPA::kInputs));
    attributes.inputs[SDPA::Q] = q;
    attributes.inputs[SDPA::K] = k;
    attributes.inputs[SDPA::V] = v;
    attributes.outputs.resize(std::size(SDPA::kOutputs));
    attributes.outputs[SDPA::O] = o;
    for (size_t port : {SDPA::Stats, SDPA::Max, SDPA::Sum_exp})
      if (!attributes.outputs[port]) attributes.outputs[port] = output(kDouble);
    return attributes;
  }
  std::vector<Values> values(const Ports& more) const {
    std::vector<Values> all(std::size(SDPA::kInputs));
    all[SDPA::Q] = q_values;
    all[SDPA::K] = k_values;
    all[SDPA::V] = v_values;
    for (const auto& [port, content] : more) all[port] = content;
    return all;
  }
  std::vector<Values> check(const SDPA& attributes, const Ports& more = {}) const {
    const std::vector<Values> found = run(operation(attributes), values(more));
    const auto expected = loops.forward(q_values, k_values, v_values);
    expect_near(found[SDPA::O], expected.o);
    expect_near(found[SDPA::Stats], expected.stats);
    expect_near(found[SDPA::Max], expected.max);
    expect_near(found[SDPA::Sum_exp], expected.sum_exp);
    return found;
  }
};

// B33: the penalty grows with the distance, for numbers of heads that are powers of two and others.
TEST(AttentionOptions, Alibi) {
  // As published: 8 heads, and the 4 of 4 heads followed by every other of 8.
  const Values of_8{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625};
  const Values of_6{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  for (const Values& slopes : {of_8, of_6, Values{0.00390625}}) {
    AttentionLoops loops{.b = 2, .sq = 5, .skv = 5, .scale = 0.5};
    loops.hq = loops.hk = loops.hv = static_cast<int64_t>(slopes.size());
    loops.added = [=](int64_t, int64_t h, int64_t i, int64_t j) {
      return slopes[static_cast<size_t>(h)] * static_cast<double>(j - i);
    };
    Problem(loops).check(SDPA().set_attn_scale(0.5f).set_alibi_mask(true));
    loops.sees = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i; };
    Problem(loops).check(SDPA().set_attn_scale(0.5f).set_alibi_mask(true).set_causal_mask(true));
  }
}

// B44
TEST(AttentionOptions, Sink) {
  const Values logits{0.5, -2, 30, -kInfinity};
  for (int64_t sq : {1, 3}) {
    AttentionLoops loops{.b = 2, .hq = 4, .hk = 2, .hv = 1, .sq = sq, .skv = 5, .scale = 0.5};
    loops.sink = [&](int64_t h) { return logits[static_cast<size_t>(h)]; };
    const auto attributes = SDPA().set_attn_scale(0.5f).set_sink_token(input("sink", {1, 4, 1, 1}));
    Problem(loops).check(attributes, {{SDPA::SINK_TOKEN, logits}});
    // A row that sees no key: O = 0, Stats = sink.
    loops.sees = [](int64_t, int64_t, int64_t, int64_t) { return false; };
    const auto found = Problem(loops).check(SDPA(attributes).set_diagonal_band_right_bound(-9),
                                            {{SDPA::SINK_TOKEN, logits}});
    EXPECT_EQ(found[SDPA::Stats][0], 0.5);
    EXPECT_EQ(found[SDPA::O][0], 0);
  }
}

// B34: the same in every run, from integers of either width, another mask for another offset.
TEST(AttentionOptions, DropoutWithASeed) {
  AttentionLoops loops{.b = 2, .hq = 2, .hk = 2, .hv = 2, .sq = 7, .skv = 9, .scale = 0.5};
  constexpr uint64_t kOffset = 77;
  const double keep = 1 - static_cast<double>(0.25f);
  const auto is_kept = [&](uint64_t seed, uint64_t offset) {
    return [=](int64_t n, int64_t h, int64_t i, int64_t j) {
      return philox_word(seed, offset, static_cast<uint64_t>(loops.score_at(n, h, i, j))) <
             keep * 0x1p32;
    };
  };
  const auto attributes = [](DataType_t type) {
    return SDPA()
        .set_attn_scale(0.5f)
        .set_dropout(0.25f, input("seed", {1, 1, 1, 1}, type), input("offset", {1, 1, 1, 1}, type))
        .set_rng_dump(output(kDouble));
  };
  Values first;
  for (const auto& [type, seed, offset] :
       {std::tuple{DataType_t::INT64, uint64_t{0x123456789ABCD}, kOffset},
        {DataType_t::INT32, uint64_t{1234567}, kOffset},
        {DataType_t::INT32, uint64_t{1234567}, kOffset + 1}}) {
    const auto kept = is_kept(seed, offset);
    loops.factor = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
      return kept(n, h, i, j) ? 1 / keep : 0;
    };
    const auto found = Problem(loops).check(
        attributes(type),
        {{SDPA::Seed, {static_cast<double>(seed)}}, {SDPA::Offset, {static_cast<double>(offset)}}});
    Values mask;
    loops.for_each_row([&](int64_t n, int64_t h, int64_t i) {
      for (int64_t j = 0; j < loops.skv; ++j) mask.push_back(kept(n, h, i, j) ? 1 : 0);
    });
    EXPECT_EQ(found[SDPA::RNG_DUMP], mask);
    EXPECT_NE(found[SDPA::RNG_DUMP], first);
    first = found[SDPA::RNG_DUMP];
  }
}

TEST(AttentionOptions, DropoutOfNothingAndByMask) {
  AttentionLoops loops{.b = 1, .hq = 2, .hk = 2, .hv = 2, .sq = 3, .skv = 4};
  const auto scalar = input("offset", {1, 1, 1, 1}, DataType_t::INT64);
  const Problem problem(loops);
  const auto without = problem.check(SDPA());
  const auto with_zero = problem.check(SDPA().set_dropout(0, scalar, scalar),
                                       {{SDPA::Seed, {5}}, {SDPA::Offset, {6}}});
  EXPECT_EQ(without[SDPA::O], with_zero[SDPA::O]);

  const Values mask = random_values(2 * 3 * 4, 9);
  loops.factor = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
    return mask[loops.score_at(n, h, i, j)] * 1.5;
  };
  Problem(loops).check(
      SDPA().set_dropout(input("mask", {1, 2, 3, 4}), input("scale", {1, 1, 1, 1})),
      {{SDPA::Dropout_mask, mask}, {SDPA::Dropout_scale, {1.5}}});
}

TEST(AttentionOptions, BlockMask) {
  // 3 blocks of rows, 10 of keys: the bits of two bytes.
  AttentionLoops loops{
      .b = 2, .hq = 2, .hk = 1, .hv = 1, .sq = 300, .skv = 1200, .dqk = 2, .dv = 2};
  Values bytes;
  for (int i = 0; i < 2 * 2 * 3 * 2; ++i) bytes.push_back((i * 37 + 11) % 256);
  bytes[4] = bytes[5] = 0;  // rows that see nothing
  loops.sees = [&](int64_t n, int64_t h, int64_t i, int64_t j) {
    const int64_t block = j / 128;
    const auto byte =
        static_cast<int>(bytes[static_cast<size_t>(((n * 2 + h) * 3 + i / 128) * 2 + block / 8)]);
    return (byte >> (block % 8) & 1) == 1;
  };
  Problem problem(loops);
  problem.check(SDPA().set_block_mask(input("blocks", {2, 2, 3, 2}, DataType_t::UINT8)),
                {{SDPA::Block_mask, bytes}});
  // What no row sees may be NaN.
  loops.sees = [](int64_t, int64_t, int64_t, int64_t j) { return j < 128; };
  Problem poisoned(loops);
  for (size_t i = 0; i < poisoned.v_values.size(); ++i)
    if (static_cast<int64_t>(i) / loops.dv % loops.skv >= 128)
      poisoned.v_values[i] = poisoned.k_values[i] = kNan;
  Values first_only(bytes.size());
  for (size_t i = 0; i < bytes.size(); i += 2) first_only[i] = 1;
  poisoned.check(SDPA().set_block_mask(input("blocks", {2, 2, 3, 2}, DataType_t::UINT8)),
                 {{SDPA::Block_mask, first_only}});
}

// Pages in any order, the last one of each batch in part. B36: a table of ceil(keys / page) pages.
struct Pages {
  int64_t size = 4, columns = 0;
  Values table, k, v;

  Pages(const Problem& p, int64_t page_size)
      : size(page_size), columns((p.loops.skv + page_size - 1) / page_size) {
    const AttentionLoops& l = p.loops;
    const int64_t count = l.b * columns;
    k.assign(static_cast<size_t>(count * l.hk * size * l.dqk), kNan);
    v.assign(static_cast<size_t>(count * l.hv * size * l.dv), kNan);
    for (int64_t n = 0; n < l.b; ++n)
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t page = count - 1 - (n + c * l.b);
        table.push_back(static_cast<double>(page));
        copy(p.k_values, k, page, n, c, l.hk, l.skv, l.dqk);
        copy(p.v_values, v, page, n, c, l.hv, l.skv, l.dv);
      }
  }
  void copy(const Values& from, Values& to, int64_t page, int64_t n, int64_t c, int64_t heads,
            int64_t keys, int64_t d) const {
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t r = 0; r < size && c * size + r < keys; ++r)
        for (int64_t i = 0; i < d; ++i)
          to[static_cast<size_t>(((page * heads + h) * size + r) * d + i)] =
              from[static_cast<size_t>(((n * heads + h) * keys + c * size + r) * d + i)];
  }
};

TEST(AttentionOptions, PagedKeysAndValues) {
  AttentionLoops loops{.b = 3, .hq = 4, .hk = 2, .hv = 1, .sq = 2, .skv = 10, .scale = 0.5};
  const Values lengths{10, 0, 7};
  loops.sees = [&](int64_t n, int64_t, int64_t, int64_t j) {
    return static_cast<double>(j) < lengths[static_cast<size_t>(n)];
  };
  const auto attributes = [&] {
    return SDPA()
        .set_attn_scale(0.5f)
        .set_padding_mask(true)
        .set_seq_len_q(input("rows", {3, 1, 1, 1}, DataType_t::INT32))
        .set_seq_len_kv(input("keys", {3, 1, 1, 1}, DataType_t::INT32));
  };
  const Ports ports{{SDPA::SEQ_LEN_Q, {2, 2, 2}}, {SDPA::SEQ_LEN_KV, lengths}};
  const Problem plain(loops);
  for (int64_t page_size : {4, 1, 16}) {
    const Pages pages(plain, page_size);
    const Dims table_dims{3, 1, pages.columns, 1};
    const auto table = [&] { return input("table", table_dims, DataType_t::INT32); };
    const auto k = input("k", {3 * pages.columns, 2, page_size, 4}, kDouble);
    const auto v = input("v", {3 * pages.columns, 1, page_size, 3}, kDouble);
    Problem both = plain, keys_only = plain;
    both.k = keys_only.k = k;
    both.v = v;
    const auto expected = loops.forward(plain.q_values, plain.k_values, plain.v_values);
    const auto found = run(both.operation(attributes()
                                              .set_paged_attention_k_table(table())
                                              .set_paged_attention_v_table(table())
                                              .set_paged_attention_max_seq_len_kv(10)),
                           both.values({ports[0],
                                        ports[1],
                                        {SDPA::K, pages.k},
                                        {SDPA::V, pages.v},
                                        {SDPA::Page_table_K, pages.table},
                                        {SDPA::Page_table_V, pages.table}}));
    expect_near(found[SDPA::O], expected.o);
    expect_near(found[SDPA::Stats], expected.stats);
    // Without a bound: as many keys as V has.
    const auto mixed =
        run(keys_only.operation(attributes().set_paged_attention_k_table(table())),
            keys_only.values(
                {ports[0], ports[1], {SDPA::K, pages.k}, {SDPA::Page_table_K, pages.table}}));
    expect_near(mixed[SDPA::O], expected.o);
  }
}

// A page that is not there makes its rows NaN: neither a crash nor a number that looks right.
TEST(AttentionOptions, PagesThatAreNotThere) {
  AttentionLoops loops{.b = 2, .sq = 1, .skv = 4};
  const Problem plain(loops);
  Problem paged = plain;
  paged.k = input("k", {2, 1, 2, 4}, kDouble);
  const auto found = run(paged.operation(SDPA()
                                             .set_padding_mask(true)
                                             .set_seq_len_q(input("rows", {2}, DataType_t::INT32))
                                             .set_seq_len_kv(input("keys", {2}, DataType_t::INT32))
                                             .set_paged_attention_k_table(
                                                 input("table", {2, 1, 2, 1}, DataType_t::INT64))),
                         paged.values({{SDPA::K, random_values(16)},
                                       {SDPA::SEQ_LEN_Q, {1, 1}},
                                       {SDPA::SEQ_LEN_KV, {4, 2}},
                                       {SDPA::Page_table_K, {0, 9e15, 1, -1}}}));
  EXPECT_TRUE(std::isnan(found[SDPA::O][0]));
  EXPECT_FALSE(std::isnan(found[SDPA::O][3]));  // its length ends before the second page
}

// Tokens of all batches one after another, in rows of all heads: [tokens, heads, size].
Values in_memory_order(const Values& logical, int64_t b, int64_t h, int64_t s, int64_t d,
                       bool to_memory) {
  Values result(logical.size());
  for (int64_t n = 0; n < b; ++n)
    for (int64_t i = 0; i < h; ++i)
      for (int64_t r = 0; r < s; ++r)
        for (int64_t x = 0; x < d; ++x) {
          const auto at = static_cast<size_t>(((n * h + i) * s + r) * d + x);
          const auto place = static_cast<size_t>(((n * s + r) * h + i) * d + x);
          to_memory ? result[place] = logical[at] : result[at] = logical[place];
        }
  return result;
}

TEST(AttentionOptions, RaggedBatches) {
  const Values rows{2, 0, 4}, keys{5, 3, 1};
  AttentionLoops loops{.b = 3, .hq = 4, .hk = 2, .hv = 1, .sq = 4, .skv = 5, .scale = 0.5};
  loops.sees = [&](int64_t n, int64_t, int64_t i, int64_t j) {
    return static_cast<double>(i) < rows[static_cast<size_t>(n)] &&
           static_cast<double>(j) < keys[static_cast<size_t>(n)] && j <= i + 1;
  };
  Problem problem(loops);
  const auto expected = loops.forward(problem.q_values, problem.k_values, problem.v_values);
  // The packed memory of a tensor whose padded form is `values`, as values of that padded form.
  const auto offsets = [](const Values& lengths, int64_t token) {
    Values sums{0};
    for (double length : lengths) sums.push_back(sums.back() + length * static_cast<double>(token));
    return sums;
  };
  const auto pack = [&](const Values& values, const Values& lengths, int64_t h, int64_t s,
                        int64_t d) {
    const Values memory = in_memory_order(values, 3, h, s, d, true);
    Values packed(memory.size(), kNan);
    size_t place = 0;
    for (size_t n = 0; n < 3; ++n)
      for (int64_t i = 0; i < static_cast<int64_t>(lengths[n]) * h * d; ++i)
        packed[place++] = memory[n * static_cast<size_t>(h * s * d) + static_cast<size_t>(i)];
    return in_memory_order(packed, 3, h, s, d, false);
  };
  const auto make_ragged = [](const TensorPtr& tensor, const char* name) {
    const Dims& dims = tensor->get_dim();
    tensor->set_stride({dims[1] * dims[2] * dims[3], dims[3], dims[1] * dims[3], 1});
    tensor->set_ragged_offset(input(name, {4, 1, 1, 1}, DataType_t::INT32));
  };
  make_ragged(problem.q, "q_offset");
  make_ragged(problem.k, "k_offset");
  make_ragged(problem.v, "v_offset");
  make_ragged(problem.o, "o_offset");
  const auto stats = output(kDouble, {3, 4, 4, 1});
  make_ragged(stats, "stats_offset");
  auto attributes = SDPA()
                        .set_attn_scale(0.5f)
                        .set_diagonal_band_right_bound(1)
                        .set_padding_mask(true)
                        .set_seq_len_q(input("rows", {3, 1, 1, 1}, DataType_t::INT32))
                        .set_seq_len_kv(input("keys", {3, 1, 1, 1}, DataType_t::INT32));
  attributes.outputs.resize(std::size(SDPA::kOutputs));
  attributes.outputs[SDPA::Stats] = stats;
  const auto found = run(problem.operation(attributes),
                         problem.values({{SDPA::Q, pack(problem.q_values, rows, 4, 4, 4)},
                                         {SDPA::K, pack(problem.k_values, keys, 2, 5, 4)},
                                         {SDPA::V, pack(problem.v_values, keys, 1, 5, 3)},
                                         {SDPA::SEQ_LEN_Q, rows},
                                         {SDPA::SEQ_LEN_KV, keys},
                                         {SDPA::RAGGED_OFFSET_Q, offsets(rows, 16)},
                                         {SDPA::RAGGED_OFFSET_K, offsets(keys, 8)},
                                         {SDPA::RAGGED_OFFSET_V, offsets(keys, 3)},
                                         {SDPA::RAGGED_OFFSET_O, offsets(rows, 12)},
                                         {SDPA::RAGGED_OFFSET_Stats, offsets(rows, 4)}}));
  // What lies beyond the tokens keeps its bytes, which are a NaN.
  expect_near(found[SDPA::O], pack(expected.o, rows, 4, 4, 3));
  expect_near(found[SDPA::Stats], pack(expected.stats, rows, 4, 4, 1));
}

// --- Errors ---

void expect_refused_with(
    SDPA attributes, error_code_t code, std::initializer_list<std::string_view> parts,
    const std::function<void(Problem&)>& change = [](Problem&) {}) {
  Problem problem({.b = 2, .hq = 2, .hk = 2, .hv = 2, .sq = 3, .skv = 5});
  change(problem);
  expect_refused(problem.operation(std::move(attributes)), code, parts);
}

constexpr auto kNotSet = error_code_t::ATTRIBUTE_NOT_SET;
constexpr auto kUnsupported = error_code_t::GRAPH_NOT_SUPPORTED;
constexpr auto kShape = error_code_t::SHAPE_DEDUCTION_FAILED;
constexpr auto kValue = error_code_t::INVALID_VALUE;

TEST(AttentionOptionErrors, Dropout) {
  const auto number = input("number", {1, 1, 1, 1}, DataType_t::INT64);
  const auto mask = input("mask", {2, 2, 3, 5});
  const auto scale = input("scale", {1, 1, 1, 1});
  expect_refused_with(SDPA().set_dropout(1, number, number), kNotSet,
                      {"field dropout_probability", "found 1", "less than 1"});
  expect_refused_with(SDPA().set_dropout(-0.5f, number, number), kValue,
                      {"field dropout_probability", "-0.5"});
  expect_refused_with(SDPA().set_dropout(NAN, number, number), kValue, {"nan"});
  expect_refused_with(SDPA().set_dropout(0.5f, nullptr, number), kNotSet, {"port Seed"});
  expect_refused_with(SDPA().set_dropout(0.5f, number, nullptr), kNotSet, {"port Offset"});
  expect_refused_with(SDPA().set_dropout(0.5f, scale, number), kUnsupported,
                      {"\"scale\" (port Seed)", "FLOAT", "INT32 or INT64"});
  expect_refused_with(SDPA().set_dropout(0.5f, number, number).set_dropout(mask, scale), kNotSet,
                      {"port Dropout_mask", "probability 0.5", "one of them"});
  expect_refused_with(SDPA().set_dropout(mask, nullptr), kNotSet, {"port Dropout_scale"});
  expect_refused_with(SDPA().set_dropout(input("mask", {2, 2, 3, 4}), scale), kShape,
                      {"\"mask\" (port Dropout_mask), dim 3", "4 in", "1 or 5"});
  expect_refused_with(SDPA().set_rng_dump(output(kDouble)), kNotSet,
                      {"port RNG_DUMP", "no dropout_probability"});
}

TEST(AttentionOptionErrors, SinkAndBlockMask) {
  expect_refused_with(SDPA().set_sink_token(input("sink", {1, 3, 1, 1})), kShape,
                      {"\"sink\" (port SINK_TOKEN), dims", "[1, 3, 1, 1]", "[1, 2, 1, 1]"});
  expect_refused_with(SDPA().set_sink_token(input("sink", {1, 2, 1, 1}, DataType_t::INT32)),
                      kUnsupported, {"port SINK_TOKEN", "INT32"});
  expect_refused_with(SDPA().set_block_mask(input("blocks", {2, 2, 1, 1}, DataType_t::INT8)),
                      kUnsupported, {"port Block_mask", "INT8", "UINT8"});
  expect_refused_with(SDPA().set_block_mask(input("blocks", {2, 1, 1, 1}, DataType_t::UINT8)),
                      kShape, {"port Block_mask", "[2, 1, 1, 1]", "[2, 2, 1, 1]"});
}

TEST(AttentionOptionErrors, Pages) {
  const auto table = [](const Dims& dims) { return input("table", dims, DataType_t::INT32); };
  const auto lengths = [](SDPA attributes) {
    return attributes.set_padding_mask(true)
        .set_seq_len_q(input("rows", {2}, DataType_t::INT32))
        .set_seq_len_kv(input("keys", {2}, DataType_t::INT32));
  };
  const auto page_keys = [](Problem& p) { p.k = input("k", {9, 2, 2, 4}, kDouble); };
  expect_refused_with(SDPA().set_paged_attention_max_seq_len_kv(5), kUnsupported,
                      {"field max_seq_len_kv", "page table"});
  expect_refused_with(SDPA().set_paged_attention_k_table(table({2, 1, 3, 1})), kUnsupported,
                      {"field padding_mask", "port Page_table_K"}, page_keys);
  expect_refused_with(lengths(SDPA().set_paged_attention_k_table(table({2, 1, 2, 1}))), kValue,
                      {"\"table\" (port Page_table_K), dims", "[2, 1, 2, 1]", "[2, 1, 3, 1]",
                       "5 keys on pages of 2"},
                      page_keys);
  expect_refused_with(lengths(SDPA()
                                  .set_paged_attention_k_table(table({2, 1, 4, 1}))
                                  .set_paged_attention_max_seq_len_kv(7)),
                      kUnsupported, {"\"v\" (port V), dim 2 (sequence)", "found 5", "7"},
                      page_keys);
  expect_refused_with(lengths(SDPA().set_paged_attention_k_table(input("table", {2, 1, 3, 1}))),
                      kUnsupported, {"port Page_table_K", "FLOAT"}, page_keys);
}

TEST(AttentionOptionErrors, Ragged) {
  const auto lengths = [] {
    return SDPA()
        .set_padding_mask(true)
        .set_seq_len_q(input("rows", {2}, DataType_t::INT32))
        .set_seq_len_kv(input("keys", {2}, DataType_t::INT32));
  };
  const auto ragged = [](const TensorPtr& offset) {
    return [=](Problem& p) { p.q->set_ragged_offset(offset); };
  };
  expect_refused_with(SDPA(), kUnsupported,
                      {"\"q\" (port Q)", "ragged offset without padding_mask"},
                      ragged(input("offsets", {3, 1, 1, 1}, DataType_t::INT32)));
  expect_refused_with(
      lengths(), kShape,
      {"\"q\" (port Q), ragged offset \"offsets\", dims", "[2, 1, 1, 1]", "[3, 1, 1, 1]"},
      ragged(input("offsets", {2, 1, 1, 1}, DataType_t::INT32)));
  expect_refused_with(lengths(), kUnsupported, {"ragged offset \"offsets\"", "FLOAT", "INT32"},
                      ragged(input("offsets", {3, 1, 1, 1})));
  const auto bias = input("bias", {2, 2, 3, 5});
  bias->set_ragged_offset(input("offsets", {3, 1, 1, 1}, DataType_t::INT32));
  expect_refused_with(lengths().set_bias(bias), kUnsupported,
                      {"\"bias\" (port Bias)", "a ragged offset", "none"});
}

TEST(AttentionOptionErrors, WhatIsForSmallFloats) {
  auto attributes = SDPA();
  attributes.inputs.resize(std::size(SDPA::kInputs));
  attributes.inputs[SDPA::Descale_Q] = input("descale", {1, 1, 1, 1});
  expect_refused_with(attributes, kValue, {"\"descale\" (port Descale_Q)", "sdpa_fp8"});
}

}  // namespace
}  // namespace warploom::test
