// T39 to T49: attention.
#include <functional>

#include "trap.h"

namespace trap {
namespace {

using fe::DiagonalAlignment_t;
using fe::graph::SDPA_attributes;

constexpr int64_t kHead = 4;

/// One head: O, Stats, Max and Sum_exp of `sq` rows and `skv` keys under these attributes.
struct Attention {
  std::vector<float> q, k, v, o, stats;
  std::vector<int32_t> length_q{0}, length_kv{0};
  Graph graph = float_graph();
  Tensor q_tensor, k_tensor, v_tensor, length_q_tensor, length_kv_tensor;

  Attention(int64_t sq, int64_t skv)
      : q(sq * kHead), k(skv * kHead), v(skv * kHead), o(sq * kHead, NAN), stats(sq, NAN) {
    for (size_t i = 0; i < q.size(); ++i) q[i] = std::sin(float(i));
    for (size_t i = 0; i < k.size(); ++i)
      k[i] = std::cos(float(i)), v[i] = std::sin(2.5f * float(i));
    q_tensor = graph.tensor(like({1, 1, sq, kHead}));
    k_tensor = graph.tensor(like({1, 1, skv, kHead}));
    v_tensor = graph.tensor(like({1, 1, skv, kHead}));
    for (Tensor* tensor : {&length_q_tensor, &length_kv_tensor})
      *tensor = graph.tensor(like({1, 1, 1, 1}).set_data_type(fe::DataType_t::INT32));
  }

  fe::error_t run(SDPA_attributes attributes) {
    auto [o_tensor, stats_tensor] =
        graph.sdpa(q_tensor, k_tensor, v_tensor, attributes.set_generate_stats(true));
    const Dims dims{1, 1, q_tensor->get_dim()[2], kHead};
    o_tensor->set_output(true).set_dim(dims).set_stride(row_major(dims));
    stats_tensor->set_output(true).set_data_type(fe::DataType_t::FLOAT);
    Pack pack{{q_tensor, q.data()},
              {k_tensor, k.data()},
              {v_tensor, v.data()},
              {length_q_tensor, length_q.data()},
              {length_kv_tensor, length_kv.data()},
              {o_tensor, o.data()},
              {stats_tensor, stats.data()}};
    return trap::run(graph, pack);
  }

  /// Compares with loops over the keys for which sees(row, key).
  void expect(double scale, const std::function<bool(int64_t, int64_t)>& sees) const {
    for (size_t i = 0; i < stats.size(); ++i) {
      double sum = 0, expected[kHead] = {};
      for (size_t j = 0; j < k.size() / kHead; ++j) {
        if (!sees(static_cast<int64_t>(i), static_cast<int64_t>(j))) continue;
        double score = 0;
        for (int64_t x = 0; x < kHead; ++x) score += double(q[i * kHead + x]) * k[j * kHead + x];
        sum += std::exp(score * scale);
        for (int64_t x = 0; x < kHead; ++x)
          expected[x] += std::exp(score * scale) * v[j * kHead + x];
      }
      if (sum == 0) {
        EXPECT_EQ(stats[i], -INFINITY) << "row " << i;
      } else {
        EXPECT_NEAR(stats[i], std::log(sum), 1e-5) << "row " << i;
      }
      for (int64_t x = 0; x < kHead; ++x)
        EXPECT_NEAR(o[i * kHead + x], sum == 0 ? 0 : expected[x] / sum, 1e-5) << "row " << i;
    }
  }
};

bool sees_all(int64_t, int64_t) {
  return true;
}

TEST(Traps, T39_ThereIsNoDefaultScale) {
  Attention plain(3, 5), scaled(3, 5);
  EXPECT_GOOD(plain.run(SDPA_attributes()));
  plain.expect(1.0, sees_all);
  EXPECT_GOOD(scaled.run(SDPA_attributes().set_attn_scale(0.25f)));
  scaled.expect(0.25, sees_all);
}

TEST(Traps, T40_CausalFlagsAreShortcuts) {
  const auto causal = [](int64_t i, int64_t j) { return j <= i; };
  Attention flag(4, 6), bound(4, 6), not_cleared(4, 6), bottom_right(4, 6), window(6, 6);
  EXPECT_GOOD(flag.run(SDPA_attributes().set_causal_mask(true)));
  flag.expect(1.0, causal);
  EXPECT_GOOD(bound.run(SDPA_attributes()
                            .set_diagonal_alignment(DiagonalAlignment_t::TOP_LEFT)
                            .set_diagonal_band_right_bound(0)));
  bound.expect(1.0, causal);
  EXPECT_GOOD(not_cleared.run(SDPA_attributes().set_causal_mask(true).set_causal_mask(false)));
  not_cleared.expect(1.0, causal);
  EXPECT_GOOD(bottom_right.run(SDPA_attributes().set_causal_mask_bottom_right(true)));
  bottom_right.expect(1.0, [](int64_t i, int64_t j) { return j <= i + 2; });
  EXPECT_GOOD(window.run(SDPA_attributes().set_causal_mask(true).set_sliding_window_length(2)));
  window.expect(1.0, [](int64_t i, int64_t j) { return j <= i && j > i - 2; });
}

// Diverges: a row that sees no key is defined: O = 0 and Stats = -inf.
TEST(Traps, T41_StatsAreTheNaturalLogarithmOfTheSum) {
  Attention attention(6, 3);
  EXPECT_GOOD(
      attention.run(SDPA_attributes().set_attn_scale(2.0f).set_causal_mask_bottom_right(true)));
  attention.expect(2.0, [](int64_t i, int64_t j) { return j <= i - 3; });
  EXPECT_EQ(attention.stats[0], -INFINITY);
}

// Diverges: rows beyond a batch's length are 0, not whatever was there.
TEST(Traps, T42_PaddingNeedsBothLengths) {
  Attention attention(4, 6);
  attention.length_q = {3};
  attention.length_kv = {5};
  EXPECT_GOOD(attention.run(SDPA_attributes()
                                .set_padding_mask(true)
                                .set_seq_len_q(attention.length_q_tensor)
                                .set_seq_len_kv(attention.length_kv_tensor)));
  attention.expect(1.0, [](int64_t i, int64_t j) { return i < 3 && j < 5; });

  Attention one(4, 6);
  EXPECT_CODE(one.run(SDPA_attributes().set_padding_mask(true).set_seq_len_q(one.length_q_tensor)),
              ATTRIBUTE_NOT_SET);
  Attention no_mask(4, 6);
  EXPECT_CODE(no_mask.run(SDPA_attributes()
                              .set_seq_len_q(no_mask.length_q_tensor)
                              .set_seq_len_kv(no_mask.length_kv_tensor)),
              ATTRIBUTE_NOT_SET);
}

}  // namespace
}  // namespace trap
