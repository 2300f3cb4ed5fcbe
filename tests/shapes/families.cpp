#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/element.h"
#include "shapes/family.h"

namespace warploom::test {
namespace {

using graph::Graph;
using graph::Tensor_attributes;

int64_t any(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

class ConvBiasRelu : public Family {
 public:
  std::string name() const override { return "ConvBiasRelu"; }
  size_t input_count() const override { return 3; }
  std::vector<Dims> first_dims() const override { return dims(2, 8, 9, 7, 16); }
  std::vector<Dims> random_dims(Random& random) const override {
    return dims(any(random, 1, 3), any(random, 1, 9), any(random, 1, 11), any(random, 1, 11),
                any(random, 1, 19));
  }
  void describe(Graph& graph, const std::vector<Tensor_attributes>& t) const override {
    const auto x = graph.tensor(t[0]), w = graph.tensor(t[1]), bias = graph.tensor(t[2]);
    const auto y = graph.conv_fprop(x, w,
                                    graph::Conv_fprop_attributes()
                                        .set_name("conv")
                                        .set_padding({1, 1})
                                        .set_stride({1, 1})
                                        .set_dilation({1, 1}));
    const auto biased = graph.pointwise(y, bias, pointwise(PointwiseMode_t::ADD).set_name("add"));
    keep(graph.pointwise(biased, pointwise(PointwiseMode_t::RELU_FWD).set_name("relu")), t[3]);
  }
  std::vector<Values> expected(const std::vector<Dims>& dims,
                               const std::vector<Values>& inputs) const override {
    const View x(inputs[0], dims[0]), w(inputs[1], dims[1]), bias(inputs[2], dims[2]);
    return {generate(dims[3], [&](const Dims& at) {
      double sum = bias(0, at[1], 0, 0);
      for (int64_t c = 0; c < dims[0][1]; ++c)
        for (int64_t r = 0; r < 3; ++r)
          for (int64_t s = 0; s < 3; ++s) {
            const int64_t h = at[2] + r - 1, v = at[3] + s - 1;
            if (h < 0 || v < 0 || h >= dims[0][2] || v >= dims[0][3]) continue;
            sum += x(at[0], c, h, v) * w(at[1], c, r, s);
          }
      return std::max(sum, 0.0);
    })};
  }

 private:
  static std::vector<Dims> dims(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k) {
    return {{n, c, h, w}, {k, c, 3, 3}, {1, k, 1, 1}, {n, k, h, w}};
  }
};

/// Y = tanh(A B) E, and the greatest magnitude in Y.
class ProductChain : public Family {
 public:
  std::string name() const override { return "ProductChain"; }
  size_t input_count() const override { return 3; }
  std::vector<Dims> first_dims() const override { return dims(2, 24, 16, 40, 8); }
  std::vector<Dims> random_dims(Random& random) const override {
    return dims(any(random, 1, 3), any(random, 1, 40), any(random, 1, 33), any(random, 1, 70),
                any(random, 1, 40));
  }
  void describe(Graph& graph, const std::vector<Tensor_attributes>& t) const override {
    const auto a = graph.tensor(t[0]), b = graph.tensor(t[1]), e = graph.tensor(t[2]);
    const auto c = graph.matmul(a, b, graph::Matmul_attributes().set_name("first"));
    const auto d = graph.pointwise(c, pointwise(PointwiseMode_t::TANH_FWD).set_name("tanh"));
    const auto y = graph.matmul(d, e, graph::Matmul_attributes().set_name("second"));
    keep(y, t[3]);
    keep(graph.reduction(y, reduction(ReductionMode_t::AMAX).set_name("amax")), t[4]);
  }
  std::vector<Values> expected(const std::vector<Dims>& dims,
                               const std::vector<Values>& inputs) const override {
    const View a(inputs[0], dims[0]), b(inputs[1], dims[1]), e(inputs[2], dims[2]);
    const Dims d_dims{dims[0][0], dims[0][1], dims[1][2]};
    const Values d_values = generate(d_dims, [&](const Dims& at) {
      double sum = 0;
      for (int64_t k = 0; k < dims[0][2]; ++k) sum += a(at[0], at[1], k) * b(0, k, at[2]);
      return std::tanh(sum);
    });
    const View d(d_values, d_dims);
    Values y = generate(dims[3], [&](const Dims& at) {
      double sum = 0;
      for (int64_t k = 0; k < d_dims[2]; ++k) sum += d(at[0], at[1], k) * e(at[0], k, at[2]);
      return sum;
    });
    double most = 0;
    for (double value : y) most = std::max(most, std::abs(value));
    return {std::move(y), {most}};
  }

 private:
  static std::vector<Dims> dims(int64_t batch, int64_t m, int64_t k, int64_t n, int64_t p) {
    return {{batch, m, k}, {1, k, n}, {batch, n, p}, {batch, m, p}, {1, 1, 1}};
  }
};

class CausalAttention : public Family {
 public:
  std::string name() const override { return "CausalAttention"; }
  DataType_t type() const override { return DataType_t::HALF; }
  size_t input_count() const override { return 3; }
  std::vector<Dims> first_dims() const override { return dims(2, 4, 2, 16, 24, 8); }
  std::vector<Dims> random_dims(Random& random) const override {
    const int64_t groups = any(random, 1, 2);
    return dims(any(random, 1, 2), groups * any(random, 1, 3), groups, any(random, 1, 70),
                any(random, 1, 70), any(random, 1, 24));
  }
  void describe(Graph& graph, const std::vector<Tensor_attributes>& t) const override {
    auto attributes = graph::SDPA_attributes().set_name("sdpa").set_generate_stats(true);
    attributes.set_attn_scale(0.5f).set_diagonal_band_right_bound(0);
    const auto [o, stats] =
        graph.sdpa(graph.tensor(t[0]), graph.tensor(t[1]), graph.tensor(t[2]), attributes);
    keep(o, t[3]);
    keep(stats, t[4]);
    stats->set_data_type(type());
  }
  std::vector<Values> expected(const std::vector<Dims>& dims,
                               const std::vector<Values>& inputs) const override {
    const View q(inputs[0], dims[0]), k(inputs[1], dims[1]), v(inputs[2], dims[2]);
    const int64_t shared = dims[0][1] / dims[1][1];
    auto score = [&](const Dims& at, int64_t key) {
      double sum = 0;
      for (int64_t d = 0; d < dims[0][3]; ++d)
        sum += q(at[0], at[1], at[2], d) * k(at[0], at[1] / shared, key, d);
      return 0.5 * sum;
    };
    auto log_sum = [&](const Dims& at) {
      double sum = 0;
      for (int64_t key = 0; key <= at[2] && key < dims[1][2]; ++key)
        sum += std::exp(score(at, key));
      return std::log(sum);
    };
    Values stats = generate(dims[4], log_sum);
    const View log_sums(stats, dims[4]);
    Values o = generate(dims[3], [&](const Dims& at) {
      double sum = 0;
      for (int64_t key = 0; key <= at[2] && key < dims[1][2]; ++key)
        sum += std::exp(score(at, key) - log_sums(at[0], at[1], at[2], 0)) *
               v(at[0], at[1] / shared, key, at[3]);
      return sum;
    });
    return {std::move(o), std::move(stats)};
  }

 private:
  static std::vector<Dims> dims(int64_t batch, int64_t heads, int64_t groups, int64_t queries,
                                int64_t keys, int64_t size) {
    return {{batch, heads, queries, size},
            {batch, groups, keys, size},
            {batch, groups, keys, size},
            {batch, heads, queries, size},
            {batch, heads, queries, 1}};
  }
};

/// X [B, S, H*4] twice its size, split into heads, transposed, without its first position, times W;
/// plus Z [B, S, H, 4] with its heads merged, which is a copy where Z's strides ask for one.
class Views : public Family {
 public:
  std::string name() const override { return "Views"; }
  size_t input_count() const override { return 3; }
  std::vector<Dims> first_dims() const override { return dims(2, 6, 3, 5); }
  std::vector<Dims> random_dims(Random& random) const override {
    return dims(any(random, 1, 4), any(random, 2, 20), any(random, 1, 6), any(random, 1, 20));
  }
  void describe(Graph& graph, const std::vector<Tensor_attributes>& t) const override {
    const auto x = graph.tensor(t[0]), w = graph.tensor(t[1]), z = graph.tensor(t[2]);
    const int64_t batch = t[0].get_dim()[0], length = t[0].get_dim()[1];
    const int64_t heads = t[0].get_dim()[2] / 4;
    const auto twice = graph.pointwise(x, x, pointwise(PointwiseMode_t::ADD).set_name("twice"));
    const auto logical = graph::Reshape_attributes().set_reshape_mode(ReshapeMode_t::LOGICAL);
    auto splitting = logical, merging = logical;
    splitting.set_name("split").set_dim({batch, length, heads, 4});
    merging.set_name("merge").set_dim({batch, length, heads * 4});
    const auto split = graph.reshape(twice, splitting);
    split->set_stride({length * heads * 4, heads * 4, 4, 1});
    const auto turned = graph.transpose(
        split, graph::Transpose_attributes().set_name("turn").set_permutation({0, 2, 1, 3}));
    const auto cut = graph.slice(turned, graph::Slice_attributes().set_name("cut").set_slices(
                                             {{0, batch}, {0, heads}, {1, length}, {0, 4}}));
    keep(graph.matmul(cut, w, graph::Matmul_attributes().set_name("product")), t[3]);
    const auto merged = graph.reshape(z, merging);
    merged->set_stride({length * heads * 4, heads * 4, 1});
    keep(graph.pointwise(twice, merged, pointwise(PointwiseMode_t::ADD).set_name("sum")), t[4]);
  }
  std::vector<Values> expected(const std::vector<Dims>& dims,
                               const std::vector<Values>& inputs) const override {
    const View x(inputs[0], dims[0]), w(inputs[1], dims[1]), z(inputs[2], dims[2]);
    return {generate(dims[3],
                     [&](const Dims& at) {
                       double sum = 0;
                       for (int64_t d = 0; d < 4; ++d)
                         sum += 2 * x(at[0], at[2] + 1, at[1] * 4 + d) * w(0, 0, d, at[3]);
                       return sum;
                     }),
            generate(dims[4], [&](const Dims& at) {
              return 2 * x(at[0], at[1], at[2]) + z(at[0], at[1], at[2] / 4, at[2] % 4);
            })};
  }

 private:
  static std::vector<Dims> dims(int64_t batch, int64_t length, int64_t heads, int64_t columns) {
    return {{batch, length, heads * 4},
            {1, 1, 4, columns},
            {batch, length, heads, 4},
            {batch, heads, length - 1, columns},
            {batch, length, heads * 4}};
  }
};

/// Mean over the last axis, sum of the squared differences over the first two, and the greatest of
/// all.
class Reductions : public Family {
 public:
  std::string name() const override { return "Reductions"; }
  size_t input_count() const override { return 1; }
  std::vector<Dims> first_dims() const override { return dims(3, 5, 20); }
  std::vector<Dims> random_dims(Random& random) const override {
    return dims(any(random, 1, 6), any(random, 1, 20), any(random, 1, 90));
  }
  void describe(Graph& graph, const std::vector<Tensor_attributes>& t) const override {
    const auto x = graph.tensor(t[0]);
    const auto mean = graph.reduction(x, reduction(ReductionMode_t::AVG).set_name("mean"));
    keep(mean, t[1]);
    const auto rest = graph.pointwise(x, mean, pointwise(PointwiseMode_t::SUB).set_name("rest"));
    const auto square = graph.pointwise(rest, rest, pointwise(PointwiseMode_t::MUL).set_name("sq"));
    keep(graph.reduction(square, reduction(ReductionMode_t::ADD).set_name("sum")), t[2]);
    keep(graph.reduction(x, reduction(ReductionMode_t::MAX).set_name("max")), t[3]);
  }
  std::vector<Values> expected(const std::vector<Dims>& dims,
                               const std::vector<Values>& inputs) const override {
    const View x(inputs[0], dims[0]);
    const Values mean = generate(dims[1], [&](const Dims& at) {
      double sum = 0;
      for (int64_t c = 0; c < dims[0][2]; ++c) sum += x(at[0], at[1], c);
      return sum / static_cast<double>(dims[0][2]);
    });
    const View means(mean, dims[1]);
    Values sum = generate(dims[2], [&](const Dims& at) {
      double total = 0;
      for (int64_t a = 0; a < dims[0][0]; ++a)
        for (int64_t b = 0; b < dims[0][1]; ++b)
          total += std::pow(x(a, b, at[2]) - means(a, b, 0), 2);
      return total;
    });
    return {mean, std::move(sum), {*std::max_element(inputs[0].begin(), inputs[0].end())}};
  }

 private:
  static std::vector<Dims> dims(int64_t a, int64_t b, int64_t c) {
    return {{a, b, c}, {a, b, 1}, {1, 1, c}, {1, 1, 1}};
  }
};

/// The greatest of windows of two by two, one row and column of padding in front, beside Z; and
/// random numbers that are 1 for sure.
class PooledBeside : public Family {
 public:
  std::string name() const override { return "PooledBeside"; }
  size_t input_count() const override { return 2; }
  std::vector<Dims> first_dims() const override { return dims(2, 5, 3, 8, 7); }
  std::vector<Dims> random_dims(Random& random) const override {
    return dims(any(random, 1, 3), any(random, 1, 6), any(random, 1, 6), any(random, 1, 12),
                any(random, 1, 12));
  }
  void describe(Graph& graph, const std::vector<Tensor_attributes>& t) const override {
    const auto x = graph.tensor(t[0]), z = graph.tensor(t[1]);
    const auto pooled = graph.resample(x, graph::Resample_attributes()
                                              .set_name("pool")
                                              .set_resampling_mode(ResampleMode_t::MAXPOOL)
                                              .set_padding_mode(PaddingMode_t::NEG_INF_PAD)
                                              .set_window({2, 2})
                                              .set_stride({2, 2})
                                              .set_pre_padding({1, 1})
                                              .set_post_padding({0, 0})
                                              .set_generate_index(false));
    keep(graph.concatenate({pooled[0], z},
                           graph::Concatenate_attributes().set_name("join").set_axis(1)),
         t[2]);
    keep(graph.rng(nullptr, nullptr,
                   graph::Rng_attributes()
                       .set_name("draw")
                       .set_distribution(RngDistribution_t::BERNOULLI)
                       .set_bernoulli_probability(1.0)
                       .set_seed(3)
                       .set_dim(t[3].get_dim())),
         t[3]);
  }
  std::vector<Values> expected(const std::vector<Dims>& dims,
                               const std::vector<Values>& inputs) const override {
    const View x(inputs[0], dims[0]), z(inputs[1], dims[1]);
    const auto pooled = [&](const Dims& at) {
      double most = -std::numeric_limits<double>::infinity();
      for (int64_t h = std::max<int64_t>(2 * at[2] - 1, 0); h <= 2 * at[2]; ++h)
        for (int64_t w = std::max<int64_t>(2 * at[3] - 1, 0); w <= 2 * at[3]; ++w)
          most = std::max(most, x(at[0], at[1], h, w));
      return most;
    };
    const int64_t channels = dims[0][1];
    return {generate(dims[2],
                     [&](const Dims& at) {
                       return at[1] < channels ? pooled(at)
                                               : z(at[0], at[1] - channels, at[2], at[3]);
                     }),
            generate(dims[3], [](const Dims&) { return 1.0; })};
  }

 private:
  static std::vector<Dims> dims(int64_t n, int64_t c, int64_t k, int64_t h, int64_t w) {
    const int64_t p = (h + 1) / 2, q = (w + 1) / 2;
    return {{n, c, h, w}, {n, k, p, q}, {n, c + k, p, q}, {n, k, p}};
  }
};

}  // namespace

std::vector<std::unique_ptr<Family>> all_families() {
  std::vector<std::unique_ptr<Family>> families;
  families.push_back(std::make_unique<ConvBiasRelu>());
  families.push_back(std::make_unique<ProductChain>());
  families.push_back(std::make_unique<CausalAttention>());
  families.push_back(std::make_unique<Views>());
  families.push_back(std::make_unique<Reductions>());
  families.push_back(std::make_unique<PooledBeside>());
  return families;
}

}  // namespace warploom::test
