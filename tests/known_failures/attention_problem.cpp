#include "known_failures/attention_problem.h"

#include <cmath>
#include <limits>

#include "harness/layout.h"

namespace warploom::test {

void AttentionProblem::randomise(uint64_t seed) {
  q = random_values(dims_q(), type, seed);
  k = random_values(dims_k(), type, seed + 1);
  v = random_values(dims_v(), type, seed + 2);
  if (bias_dims) bias = random_values(*bias_dims, bias_type, seed + 3);
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double bias_at(const AttentionProblem& p, int64_t b, int64_t h, int64_t i, int64_t j) {
  if (!p.bias_dims) return 0;
  const Dims& dims = *p.bias_dims;
  const auto at = [&](size_t axis, int64_t index) { return dims[axis] == 1 ? 0 : index; };
  return View(p.bias, dims)(at(0, b), at(1, h), at(2, i), at(3, j));
}

bool sees(const AttentionProblem& p, int64_t b, int64_t i, int64_t j) {
  int64_t rows = p.rows, keys = p.keys;
  if (p.lengths) {
    rows = static_cast<int64_t>(p.lengths->first[static_cast<size_t>(b)]);
    keys = static_cast<int64_t>(p.lengths->second[static_cast<size_t>(b)]);
  }
  if (i >= rows || j >= keys) return false;
  if (p.alignment == DiagonalAlignment_t::BOTTOM_RIGHT) i += keys - rows;
  return (!p.right_bound || j <= i + *p.right_bound) && (!p.left_bound || j > i - *p.left_bound);
}

}  // namespace

AttentionAnswer attention_by_loops(const AttentionProblem& p) {
  const View q(p.q, p.dims_q()), k(p.k, p.dims_k()), v(p.v, p.dims_v());
  AttentionAnswer answer;
  Values score(static_cast<size_t>(p.keys));
  for (int64_t b = 0; b < p.batches; ++b) {
    for (int64_t h = 0; h < p.heads_q; ++h) {
      const int64_t head_k = h / (p.heads_q / p.heads_k), head_v = h / (p.heads_q / p.heads_v);
      for (int64_t i = 0; i < p.rows; ++i) {
        double maximum = -kInfinity, sum = 0;
        for (int64_t j = 0; j < p.keys; ++j) {
          double& s = score[static_cast<size_t>(j)];
          s = -kInfinity;
          if (!sees(p, b, i, j)) continue;
          double dot = 0;
          for (int64_t d = 0; d < p.size_qk; ++d) dot += q(b, h, i, d) * k(b, head_k, j, d);
          s = dot * p.scale + bias_at(p, b, h, i, j);
          maximum = std::max(maximum, s);
        }
        const bool is_masked = maximum == -kInfinity;
        for (double& s : score) sum += s = is_masked ? 0 : std::exp(s - maximum);
        answer.stats.push_back(is_masked ? -kInfinity : maximum + std::log(sum));
        for (int64_t d = 0; d < p.size_v; ++d) {
          double o = 0;
          for (int64_t j = 0; j < p.keys; ++j)
            if (score[static_cast<size_t>(j)] != 0)
              o += score[static_cast<size_t>(j)] * v(b, head_v, j, d);
          answer.o.push_back(is_masked ? 0 : o / sum);
        }
      }
    }
  }
  return answer;
}

void check_attention(const AttentionProblem& p, Plans plans) {
  graph::Graph graph = describe(p.type);
  const auto strides = [](const Dims& given, const Dims& dims) {
    return given.empty() ? strides_of_layout("row_major", dims) : given;
  };
  const auto q = input(graph, "Q", p.dims_q(), strides(p.strides_q, p.dims_q()));
  const auto k = input(graph, "K", p.dims_k(), strides(p.strides_k, p.dims_k()));
  const auto v = input(graph, "V", p.dims_v(), strides(p.strides_v, p.dims_v()));
  Inputs inputs{{q, p.q}, {k, p.k}, {v, p.v}};

  auto attributes = graph::SDPA_attributes()
                        .set_name("attention")
                        .set_generate_stats(true)
                        .set_attn_scale(p.scale)
                        .set_diagonal_alignment(p.alignment);
  if (p.left_bound) attributes.set_diagonal_band_left_bound(*p.left_bound);
  if (p.right_bound) attributes.set_diagonal_band_right_bound(*p.right_bound);
  if (p.lengths) {
    const Dims dims = p.length_dims.empty() ? Dims{p.batches, 1, 1, 1} : p.length_dims;
    const auto rows = input(graph, "seq_len_q", dims, "row_major", DataType_t::INT32);
    const auto keys = input(graph, "seq_len_kv", dims, "row_major", DataType_t::INT32);
    attributes.set_padding_mask(true).set_seq_len_q(rows).set_seq_len_kv(keys);
    inputs.emplace_back(rows, p.lengths->first);
    inputs.emplace_back(keys, p.lengths->second);
  }
  if (p.bias_dims) {
    const auto bias = input(graph, "bias", *p.bias_dims, "row_major", p.bias_type);
    attributes.set_bias(bias);
    inputs.emplace_back(bias, p.bias);
  }
  const auto [o, stats] = graph.sdpa(q, k, v, attributes);
  o->set_output(true).set_dim(p.dims_o()).set_stride(strides(p.strides_o, p.dims_o()));
  stats->set_output(true).set_data_type(DataType_t::FLOAT);

  const AttentionAnswer answer = attention_by_loops(p);
  const std::vector<Expected> expected{{o, answer.o}, {stats, answer.stats, Tolerance{1e-4, 1e-5}}};
  if (plans == Plans::kEvery)
    expect_every_plan(graph, inputs, expected);
  else
    expect_first_plan(graph, inputs, expected);
}

}  // namespace warploom::test
