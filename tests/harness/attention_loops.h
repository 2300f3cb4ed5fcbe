#pragma once
/// Attention and its gradient by their formulas, one score at a time, in double.
#include <cmath>
#include <functional>
#include <limits>

#include "harness/tensor_memory.h"

namespace warploom::test {

/// Scores as functions of batch, query head, row and key.
struct AttentionLoops {
  int64_t b = 1, hq = 1, hk = 1, hv = 1, sq = 1, skv = 1, dqk = 4, dv = 3;
  double scale = 1;
  using Score = std::function<double(int64_t, int64_t, int64_t, int64_t)>;
  Score added = [](int64_t, int64_t, int64_t, int64_t) { return 0.0; };
  std::function<bool(int64_t, int64_t, int64_t, int64_t)> sees = [](int64_t, int64_t, int64_t,
                                                                    int64_t) { return true; };
  /// What dropout multiplies a probability by.
  Score factor = [](int64_t, int64_t, int64_t, int64_t) { return 1.0; };
  std::function<double(int64_t)> sink = [](int64_t) {
    return -std::numeric_limits<double>::infinity();
  };

  struct Results {
    Values o, stats, max, sum_exp;
  };
  struct Gradients {
    Values q, k, v, score, sink;  ///< score: of all scores, for biases
  };

  int64_t q_size() const { return b * hq * sq * dqk; }
  int64_t k_size() const { return b * hk * skv * dqk; }
  int64_t v_size() const { return b * hv * skv * dv; }
  int64_t o_size() const { return b * hq * sq * dv; }
  size_t q_at(int64_t n, int64_t h, int64_t i, int64_t d) const {
    return static_cast<size_t>(((n * hq + h) * sq + i) * dqk + d);
  }
  size_t k_at(int64_t n, int64_t h, int64_t j, int64_t d) const {
    return static_cast<size_t>(((n * hk + h * hk / hq) * skv + j) * dqk + d);
  }
  size_t v_at(int64_t n, int64_t h, int64_t j, int64_t d) const {
    return static_cast<size_t>(((n * hv + h * hv / hq) * skv + j) * dv + d);
  }
  size_t o_at(int64_t n, int64_t h, int64_t i, int64_t d) const {
    return static_cast<size_t>(((n * hq + h) * sq + i) * dv + d);
  }
  size_t score_at(int64_t n, int64_t h, int64_t i, int64_t j) const {
    return static_cast<size_t>(((n * hq + h) * sq + i) * skv + j);
  }

  double score(const Values& q, const Values& k, int64_t n, int64_t h, int64_t i, int64_t j) const {
    double dot = 0;
    for (int64_t d = 0; d < dqk; ++d) dot += q[q_at(n, h, i, d)] * k[k_at(n, h, j, d)];
    return dot * scale + added(n, h, i, j);
  }

  Results forward(const Values& q, const Values& k, const Values& v) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Results results;
    for_each_row([&](int64_t n, int64_t h, int64_t i) {
      double most = sink(h), sum = 0;
      for (int64_t j = 0; j < skv; ++j)
        if (sees(n, h, i, j)) most = std::max(most, score(q, k, n, h, i, j));
      Values row(static_cast<size_t>(dv), 0.0);
      if (most != -kInfinity) {
        sum = std::exp(sink(h) - most);
        for (int64_t j = 0; j < skv; ++j) {
          if (!sees(n, h, i, j)) continue;
          const double weight = std::exp(score(q, k, n, h, i, j) - most);
          sum += weight;
          for (int64_t d = 0; d < dv; ++d)
            row[static_cast<size_t>(d)] += weight * factor(n, h, i, j) * v[v_at(n, h, j, d)];
        }
      }
      for (double value : row) results.o.push_back(sum == 0 ? 0 : value / sum);
      results.stats.push_back(sum == 0 ? -kInfinity : most + std::log(sum));
      results.max.push_back(most);
      results.sum_exp.push_back(sum);
    });
    return results;
  }

  /// Of the sum of dO O, by the chain rule through the softmax's whole Jacobian.
  Gradients backward(const Values& q, const Values& k, const Values& v, const Values& d_o) const {
    const Results results = forward(q, k, v);
    Gradients g{Values(q.size()), Values(k.size()), Values(v.size()),
                Values(static_cast<size_t>(b * hq * sq * skv)), Values(static_cast<size_t>(hq))};
    size_t row = 0;
    for_each_row([&](int64_t n, int64_t h, int64_t i) {
      const double stats = results.stats[row++];
      if (std::isinf(stats)) return;
      Values p(static_cast<size_t>(skv)), d_p(static_cast<size_t>(skv));
      for (int64_t j = 0; j < skv; ++j) {
        if (!sees(n, h, i, j)) continue;
        p[static_cast<size_t>(j)] = std::exp(score(q, k, n, h, i, j) - stats);
        for (int64_t d = 0; d < dv; ++d) {
          const double output = d_o[o_at(n, h, i, d)];
          d_p[static_cast<size_t>(j)] += output * v[v_at(n, h, j, d)] * factor(n, h, i, j);
          g.v[v_at(n, h, j, d)] += output * p[static_cast<size_t>(j)] * factor(n, h, i, j);
        }
      }
      // dp_j / ds_m = p_j (delta_jm - p_m), the sink being one more m.
      const double p_sink = std::exp(sink(h) - stats);
      for (int64_t j = 0; j < skv; ++j)
        g.sink[static_cast<size_t>(h)] -=
            d_p[static_cast<size_t>(j)] * p[static_cast<size_t>(j)] * p_sink;
      for (int64_t m = 0; m < skv; ++m) {
        if (!sees(n, h, i, m)) continue;
        double d_s = 0;
        for (int64_t j = 0; j < skv; ++j)
          d_s += d_p[static_cast<size_t>(j)] * p[static_cast<size_t>(j)] *
                 ((j == m ? 1 : 0) - p[static_cast<size_t>(m)]);
        g.score[score_at(n, h, i, m)] = d_s;
        for (int64_t d = 0; d < dqk; ++d) {
          g.q[q_at(n, h, i, d)] += d_s * scale * k[k_at(n, h, m, d)];
          g.k[k_at(n, h, m, d)] += d_s * scale * q[q_at(n, h, i, d)];
        }
      }
    });
    return g;
  }

  template <class Function>
  void for_each_row(Function&& function) const {
    for (int64_t n = 0; n < b; ++n)
      for (int64_t h = 0; h < hq; ++h)
        for (int64_t i = 0; i < sq; ++i) function(n, h, i);
  }
};

/// Philox4x32-10 as Salmon, Moraes, Dror and Shaw give it, one 32-bit word for each element.
inline uint32_t philox_word(uint64_t seed, uint64_t offset, uint64_t element) {
  const uint64_t block = element / 4;
  uint32_t c[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                   static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)};
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9U, k1 += 0xBB67AE85U) {
    const uint64_t a = 0xD2511F53ULL * c[0], b = 0xCD9E8D57ULL * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    std::copy(next, next + 4, c);
  }
  return c[element % 4];
}

}  // namespace warploom::test
