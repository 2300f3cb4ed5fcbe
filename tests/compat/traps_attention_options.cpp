// T43 to T49: score modifiers, dropout, 8-bit floats, gradients, and slopes of attention.
#include "trap.h"

namespace trap {
namespace {

using fe::DataType_t;
using fe::graph::SDPA_attributes;
using fe::graph::SDPA_backward_attributes;
using fe::graph::SDPA_fp8_attributes;

constexpr int64_t kHead = 8;

std::vector<float> waves(size_t count, double step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(std::sin(step * double(i + 1)));
  return values;
}

/// Q, K and V of `heads` heads, and exp(scale Q K^T + offset) of every pair that counts, in double.
struct Problem {
  int64_t heads, sq, skv;
  std::vector<float> q, k, v;
  Graph graph = float_graph();
  Tensor q_tensor, k_tensor, v_tensor;

  Problem(int64_t h, int64_t rows, int64_t keys)
      : heads(h),
        sq(rows),
        skv(keys),
        q(waves(h * rows * kHead, 0.7)),
        k(waves(h * keys * kHead, 1.1)),
        v(waves(h * keys * kHead, 0.3)),
        q_tensor(graph.tensor(like({1, h, rows, kHead}, "Q"))),
        k_tensor(graph.tensor(like({1, h, keys, kHead}, "K"))),
        v_tensor(graph.tensor(like({1, h, keys, kHead}, "V"))) {}

  Pack pack() { return {{q_tensor, q.data()}, {k_tensor, k.data()}, {v_tensor, v.data()}}; }
  Tensor result(Tensor tensor, const Dims& dims) const {
    tensor->set_output(true).set_dim(dims).set_stride(row_major(dims));
    return tensor;
  }
  double score(int64_t head, int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t x = 0; x < kHead; ++x)
      sum += double(q[(head * sq + i) * kHead + x]) * k[(head * skv + j) * kHead + x];
    return sum;
  }
  double value(int64_t head, int64_t j, int64_t x) const { return v[(head * skv + j) * kHead + x]; }
};

TEST(Traps, T43_ThePaddingModifierTakesTheLengthsOfKeysFirst) {
  Problem problem(1, 4, 6);
  const auto lengths = like({1, 1, 1, 1}).set_data_type(DataType_t::INT32);
  auto seq_q = problem.graph.tensor(lengths), seq_kv = problem.graph.tensor(lengths);
  auto modifier = [=](std::shared_ptr<Graph> graph, Tensor score) {
    return fe::graph::attn::score_modifiers::padding_mask(graph, score, seq_kv, seq_q);
  };
  auto o = problem.graph.sdpa(problem.q_tensor, problem.k_tensor, problem.v_tensor,
                              SDPA_attributes().set_score_mod(modifier))[0];
  problem.result(o, {1, 1, 4, kHead});
  int32_t rows = 3, keys = 2;
  std::vector<float> found(4 * kHead, NAN);
  Pack pack = problem.pack();
  pack.insert({{seq_q, &rows}, {seq_kv, &keys}, {o, found.data()}});
  EXPECT_GOOD(run(problem.graph, pack));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t x = 0; x < kHead; ++x) {
      double sum = 0, expected = 0;
      for (int64_t j = 0; j < keys; ++j) {
        sum += std::exp(problem.score(0, i, j));
        expected += std::exp(problem.score(0, i, j)) * problem.value(0, j, x);
      }
      EXPECT_NEAR(found[i * kHead + x], expected / sum, 1e-5);
    }
}

// The probability is that of dropping; what is kept is divided by that of keeping.
TEST(Traps, T44_DropoutsProbabilityIsThatOfDropping) {
  constexpr int64_t n = 64;
  constexpr float drop = 0.25f;
  Problem problem(1, n, n);
  const auto number = like({1, 1, 1, 1}).set_data_type(DataType_t::INT64);
  auto seed = problem.graph.tensor(number), offset = problem.graph.tensor(number);
  auto dump = problem.graph.tensor(like({1, 1, n, n}));
  auto o =
      problem.graph.sdpa(problem.q_tensor, problem.k_tensor, problem.v_tensor,
                         SDPA_attributes().set_dropout(drop, seed, offset).set_rng_dump(dump))[0];
  problem.result(o, {1, 1, n, kHead});
  int64_t seed_value = 1234, offset_value = 5;
  std::vector<float> found(n * kHead, NAN), mask(n * n, NAN);
  Pack pack = problem.pack();
  pack.insert(
      {{seed, &seed_value}, {offset, &offset_value}, {dump, mask.data()}, {o, found.data()}});
  EXPECT_GOOD(run(problem.graph, pack));
  int64_t kept = 0;
  for (float bit : mask) {
    EXPECT_TRUE(bit == 0 || bit == 1) << bit;
    kept += bit == 1;
  }
  EXPECT_NEAR(double(kept) / (n * n), 1 - drop, 0.05);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t x = 0; x < kHead; ++x) {
      double sum = 0, expected = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double weight = std::exp(problem.score(0, i, j));
        sum += weight;
        expected += weight * mask[i * n + j] / (1 - drop) * problem.value(0, j, x);
      }
      EXPECT_NEAR(found[i * kHead + x], expected / sum, 1e-5);
    }

  Graph everything = float_graph();
  auto q = everything.tensor(like({1, 1, 2, kHead}));
  auto s = everything.tensor(number);
  auto result = everything.sdpa(q, q, q, SDPA_attributes().set_dropout(1.0f, s, s))[0];
  result->set_output(true).set_dim({1, 1, 2, kHead}).set_stride(row_major({1, 1, 2, kHead}));
  EXPECT_CODE(everything.validate(), ATTRIBUTE_NOT_SET);
}

/// The value of an E4M3 byte.
double from_e4m3(uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return bits & 128 ? -size : size;
}

// Descales apply to scaled scores; all are factors, so that no order can be seen.
TEST(Traps, T45_T46_AmaxIsMeasuredBeforeTheScaleAndDescalesAreFactors) {
  constexpr int64_t d = 16;
  constexpr uint8_t kOne = 0x38, kMinusOne = 0xb8;
  Graph graph = float_graph();
  auto bytes = [&](int64_t rows) {
    return graph.tensor(like({1, 1, rows, d}).set_data_type(DataType_t::FP8_E4M3));
  };
  auto q = bytes(1), k = bytes(2), v = bytes(2);
  std::vector<float> scales{2, 0.5f, 4, 1 / 256.0f, 256, 8};
  std::vector<Tensor> factor;
  for (size_t i = 0; i < scales.size(); ++i) factor.push_back(graph.tensor(like({1, 1, 1, 1})));
  auto [o, stats, amax_s, amax_o] =
      graph.sdpa_fp8(q, k, v, factor[0], factor[1], factor[2], factor[3], factor[4], factor[5],
                     SDPA_fp8_attributes().set_generate_stats(false).set_attn_scale(1.0f / 16));
  EXPECT_EQ(stats, nullptr);
  o->set_output(true).set_dim({1, 1, 1, d}).set_stride(row_major({1, 1, 1, d}));
  o->set_data_type(DataType_t::FP8_E4M3);
  for (auto& amax : {amax_s, amax_o})
    amax->set_output(true)
        .set_dim({1, 1, 1, 1})
        .set_stride({1, 1, 1, 1})
        .set_data_type(DataType_t::FLOAT);
  // Scores 1 and 0.
  std::vector<uint8_t> ones(d, kOne), keys(2 * d, 0), values(2 * d, kOne), result(d, 0x7f);
  std::fill_n(keys.begin(), d, kOne);
  std::fill_n(values.begin() + d, d, kMinusOne);
  float largest_s = NAN, largest_o = NAN;
  Pack pack{{q, ones.data()},   {k, keys.data()},     {v, values.data()},
            {o, result.data()}, {amax_s, &largest_s}, {amax_o, &largest_o}};
  for (size_t i = 0; i < scales.size(); ++i) pack[factor[i]] = &scales[i];
  EXPECT_GOOD(run(graph, pack));
  const double p = std::exp(1.0) / (1 + std::exp(1.0));
  EXPECT_NEAR(largest_s, p, 1e-3);
  // P is carried in 8 bits, O is written in 8 bits.
  EXPECT_NEAR(largest_o, 4 * (2 * p - 1), 0.1);
  for (uint8_t byte : result) EXPECT_NEAR(from_e4m3(byte), 8 * 4 * (2 * p - 1), 1.5);
}

TEST(Traps, T48_GradientsOfBiasAndSinkAreResultsGivenAsAttributes) {
  constexpr int64_t h = 2, n = 5, m = 6;
  constexpr double scale = 0.5;
  Problem problem(h, n, m);
  Graph& graph = problem.graph;
  const Dims rows{1, h, n, kHead}, keys{1, h, m, kHead};
  auto o = graph.tensor(like(rows, "O")), d_o = graph.tensor(like(rows, "dO"));
  auto stats = graph.tensor(like({1, h, n, 1}, "Stats"));
  auto bias = graph.tensor(like({1, 1, n, m}, "bias")), sink = graph.tensor(like({1, h, 1, 1}));
  auto d_bias = graph.tensor(like({1, 1, n, m}, "dBias"));
  auto d_sink = graph.tensor(like({1, h, 1, 1}, "dSink"));
  auto [dq, dk, dv] =
      graph.sdpa_backward(problem.q_tensor, problem.k_tensor, problem.v_tensor, o, d_o, stats,
                          SDPA_backward_attributes()
                              .set_attn_scale(float(scale))
                              .set_bias(bias)
                              .set_dbias(d_bias)
                              .set_sink_token(sink)
                              .set_dsink_token(d_sink)
                              .set_deterministic_algorithm(true));
  problem.result(dq, rows);
  problem.result(dk, keys);
  problem.result(dv, keys);

  const auto bias_data = waves(n * m, 0.9), gradient = waves(h * n * kHead, 0.4);
  const std::vector<float> sinks{0.5f, -0.25f};
  std::vector<float> o_data(h * n * kHead), stats_data(h * n);
  std::vector<double> p(h * n * m), dot(h * n), ds(h * n * m), expected_bias(n * m),
      expected_sink(h);
  for (int64_t row = 0; row < h * n; ++row) {
    const int64_t head = row / n, i = row % n;
    double sum = std::exp(double(sinks[head]));
    for (int64_t j = 0; j < m; ++j)
      sum += p[row * m + j] =
          std::exp(scale * problem.score(head, i, j) + double(bias_data[i * m + j]));
    stats_data[row] = static_cast<float>(std::log(sum));
    for (int64_t j = 0; j < m; ++j) p[row * m + j] /= sum;
    for (int64_t x = 0; x < kHead; ++x) {
      double out = 0;
      for (int64_t j = 0; j < m; ++j) out += p[row * m + j] * problem.value(head, j, x);
      o_data[row * kHead + x] = static_cast<float>(out);
      dot[row] += out * double(gradient[row * kHead + x]);
    }
    for (int64_t j = 0; j < m; ++j) {
      double dp = 0;
      for (int64_t x = 0; x < kHead; ++x)
        dp += double(gradient[row * kHead + x]) * problem.value(head, j, x);
      // Before the scale: it belongs to Q and K, not to the bias.
      expected_bias[i * m + j] += ds[row * m + j] = p[row * m + j] * (dp - dot[row]);
    }
    expected_sink[head] -= dot[row] * std::exp(double(sinks[head])) / sum;
  }
  std::vector<float> dq_data(h * n * kHead, NAN), dk_data(h * m * kHead, NAN),
      dv_data(h * m * kHead, NAN), d_bias_data(n * m, NAN), d_sink_data(h, NAN);
  Pack pack = problem.pack();
  auto read = [](const std::vector<float>& data) { return const_cast<float*>(data.data()); };
  pack.insert({{o, o_data.data()},
               {d_o, read(gradient)},
               {stats, stats_data.data()},
               {bias, read(bias_data)},
               {sink, read(sinks)},
               {dq, dq_data.data()},
               {dk, dk_data.data()},
               {dv, dv_data.data()},
               {d_bias, d_bias_data.data()},
               {d_sink, d_sink_data.data()}});
  EXPECT_GOOD(run(graph, pack));
  for (int64_t i = 0; i < n * m; ++i) EXPECT_NEAR(d_bias_data[i], expected_bias[i], 1e-5);
  for (int64_t head = 0; head < h; ++head) {
    EXPECT_NEAR(d_sink_data[head], expected_sink[head], 1e-5);
    for (int64_t x = 0; x < kHead; ++x) {
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < m; ++j)
          sum += scale * ds[(head * n + i) * m + j] * problem.k[(head * m + j) * kHead + x];
        EXPECT_NEAR(dq_data[(head * n + i) * kHead + x], sum, 1e-5);
      }
      for (int64_t j = 0; j < m; ++j) {
        double key = 0, value = 0;
        for (int64_t i = 0; i < n; ++i) {
          const int64_t row = head * n + i;
          key += scale * ds[row * m + j] * problem.q[row * kHead + x];
          value += p[row * m + j] * double(gradient[row * kHead + x]);
        }
        EXPECT_NEAR(dk_data[(head * m + j) * kHead + x], key, 1e-5);
        EXPECT_NEAR(dv_data[(head * m + j) * kHead + x], value, 1e-5);
      }
    }
  }
}

// Diverges: there is no memory of the frontend's own; the workspace may hold anything at every run.
TEST(Traps, T49_TheWorkspaceIsInitializedAtEveryRun) {
  constexpr int64_t h = 3, n = 6;
  Problem problem(h, n, n);
  auto o = problem.graph.sdpa(problem.q_tensor, problem.k_tensor, problem.v_tensor,
                              SDPA_attributes().set_alibi_mask(true).set_causal_mask(true))[0];
  problem.result(o, {1, h, n, kHead});
  const OwnHandle handle;
  EXPECT_GOOD(problem.graph.build(handle, {fe::HeurMode_t::A}));
  std::vector<float> found(h * n * kHead, NAN);
  Pack pack = problem.pack();
  pack[o] = found.data();
  std::vector<uint8_t> workspace(problem.graph.get_workspace_size());
  // The slopes for 3 heads: 2^-4 and 2^-8 of 2 heads, then the first of 4.
  const double slopes[] = {std::exp2(-4), std::exp2(-8), std::exp2(-2)};
  for (int run = 0; run < 2; ++run) {
    std::fill(workspace.begin(), workspace.end(), 0xff);
    std::fill(found.begin(), found.end(), NAN);
    EXPECT_GOOD(problem.graph.execute(handle, pack, workspace.data()));
    for (int64_t head = 0; head < h; ++head)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t x = 0; x < kHead; ++x) {
          double sum = 0, expected = 0;
          for (int64_t j = 0; j <= i; ++j) {
            const double weight =
                std::exp(problem.score(head, i, j) + slopes[head] * double(j - i));
            sum += weight;
            expected += weight * problem.value(head, j, x);
          }
          EXPECT_NEAR(found[(head * n + i) * kHead + x], expected / sum, 1e-5);
        }
  }
}

}  // namespace
}  // namespace trap
