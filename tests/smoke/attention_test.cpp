#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/plan_runner.h"
#include "smoke/graphs.h"

namespace warploom::test {
namespace {

constexpr int64_t kHeads = 4, kKeyHeads = 2, kRows = 35, kKeys = 29, kDim = 20;
constexpr double kScale = 0.25;

// Causal from the bottom right: row i sees keys up to i + kKeys - kRows, the first rows none.
void attention(const Values& q, const Values& k, const Values& v, Values& o, Values& stats) {
  for (int64_t head = 0; head < kHeads; ++head) {
    const int64_t key_head = head / (kHeads / kKeyHeads);
    for (int64_t i = 0; i < kRows; ++i) {
      const int64_t visible = std::max<int64_t>(0, i + kKeys - kRows + 1);
      Values score(visible), row(kDim, 0.0);
      double total = 0;
      for (int64_t j = 0; j < visible; ++j) {
        for (int64_t d = 0; d < kDim; ++d)
          score[j] +=
              kScale * q[(head * kRows + i) * kDim + d] * k[(key_head * kKeys + j) * kDim + d];
        total += std::exp(score[j]);
      }
      for (int64_t j = 0; j < visible; ++j)
        for (int64_t d = 0; d < kDim; ++d)
          row[d] += std::exp(score[j]) / total * v[(key_head * kKeys + j) * kDim + d];
      o.insert(o.end(), row.begin(), row.end());
      stats.push_back(visible ? std::log(total) : -std::numeric_limits<double>::infinity());
    }
  }
}

TEST(Smoke, CausalAttentionWithGroupedHeads) {
  auto graph = float_graph();
  auto q = input(graph, "q", {1, kHeads, kRows, kDim});
  auto k = input(graph, "k", {1, kKeyHeads, kKeys, kDim});
  auto v = input(graph, "v", {1, kKeyHeads, kKeys, kDim});
  auto [o, stats] = graph.sdpa(q, k, v,
                               graph::SDPA_attributes()
                                   .set_attn_scale(float(kScale))
                                   .set_causal_mask_bottom_right(true)
                                   .set_generate_stats(true));
  keep(o, {1, kHeads, kRows, kDim});
  keep(stats, {1, kHeads, kRows, 1});

  const Values q_values = spread_values(kHeads * kRows * kDim, 1);
  const Values k_values = spread_values(kKeyHeads * kKeys * kDim, 2);
  const Values v_values = spread_values(kKeyHeads * kKeys * kDim, 3);
  Values o_values, stats_values;
  attention(q_values, k_values, v_values, o_values, stats_values);
  expect_every_plan(graph, {{q, q_values}, {k, k_values}, {v, v_values}},
                    {{o, o_values}, {stats, stats_values}});
}

}  // namespace
}  // namespace warploom::test
