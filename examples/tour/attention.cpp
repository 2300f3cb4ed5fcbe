/// Section 4: causal attention in one kernel that never holds the matrix of scores.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tour/independent.h"
#include "tour/running.h"
#include "tour/tour.h"

namespace tour {
namespace {

using warploom::DataType_t;
using warploom::error_t;
using warploom::PointwiseMode_t;
using warploom::ReductionMode_t;
using warploom::Result;
using namespace warploom::graph;

/// O = softmax(causal(Q K^T / sqrt(size))) V, for every batch and head.
struct Attention {
  std::int64_t batch, heads, length, size;
  std::vector<float> q, k, v;

  std::int64_t outputs() const { return batch * heads * length * size; }
  std::int64_t scores() const { return batch * heads * length * length; }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(size)); }
  /// Of the two products, for the pairs that the mask leaves.
  double operations() const {
    return 4.0 * static_cast<double>(batch * heads * size) * static_cast<double>(length) *
           static_cast<double>(length + 1) / 2;
  }
};

Tensor_attributes packed(const char* name, std::vector<std::int64_t> dims) {
  const std::vector<std::int64_t> strides{dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3],
                                          1};
  return Tensor_attributes().set_name(name).set_dim(dims).set_stride(strides);
}

/// The same memory as `dims`, read with its last two dimensions exchanged.
Tensor_attributes transposed(const char* name, std::vector<std::int64_t> dims) {
  const std::vector<std::int64_t> strides{dims[1] * dims[2] * dims[3], dims[2] * dims[3], 1,
                                          dims[3]};
  std::swap(dims[2], dims[3]);
  return Tensor_attributes().set_name(name).set_dim(dims).set_stride(strides);
}

Result<BuiltGraph> build_fused(Tour& tour, Attention& data, float* result) {
  const std::vector<std::int64_t> dims{data.batch, data.heads, data.length, data.size};
  Graph graph = float_graph("causal attention");
  auto q = graph.tensor(packed("Q", dims));
  auto k = graph.tensor(packed("K", dims));
  auto v = graph.tensor(packed("V", dims));
  auto [o, stats] = graph.sdpa(q, k, v,
                               SDPA_attributes()
                                   .set_name("attention")
                                   .set_generate_stats(false)
                                   .set_causal_mask(true)
                                   .set_attn_scale(data.scale()));
  o->set_name("O").set_output(true).set_dim(dims).set_stride(packed("O", dims).get_stride());
  return BuiltGraph::build(
      tour.handle(), std::move(graph),
      {{q, data.q.data()}, {k, data.k.data()}, {v, data.v.data()}, {o, result}});
}

/// One operation after the other: two matmuls, and between them a softmax over scores in memory.
/// Two buffers of scores are written in turns.
class OneByOne {
 public:
  OneByOne(Attention& data, Sequence& sequence)
      : data_(data),
        sequence_(sequence),
        score_dims_{data.batch, data.heads, data.length, data.length},
        row_dims_{data.batch, data.heads, data.length, 1},
        scores_(sequence.intermediate(data.scores())),
        others_(sequence.intermediate(data.scores())),
        largest_(sequence.intermediate(data.batch * data.heads * data.length)),
        sums_(sequence.intermediate(data.batch * data.heads * data.length)),
        rows_(sequence.intermediate(data.length * data.length)),
        columns_(sequence.intermediate(data.length * data.length)),
        mask_(static_cast<std::size_t>(data.length * data.length)) {}

  error_t describe(float* result) {
    const std::vector<std::int64_t> dims{data_.batch, data_.heads, data_.length, data_.size};
    CHECK_WARPLOOM_ERROR(
        matmul(packed("Q", dims), data_.q.data(), transposed("K", dims), data_.k.data(), scores_));
    CHECK_WARPLOOM_ERROR(scale());
    CHECK_WARPLOOM_ERROR(make_mask());
    CHECK_WARPLOOM_ERROR(apply_mask());
    CHECK_WARPLOOM_ERROR(reduce(ReductionMode_t::MAX, scores_, largest_));
    CHECK_WARPLOOM_ERROR(with_row(PointwiseMode_t::SUB, scores_, largest_, others_));
    CHECK_WARPLOOM_ERROR(exponential());
    CHECK_WARPLOOM_ERROR(reduce(ReductionMode_t::ADD, scores_, sums_));
    CHECK_WARPLOOM_ERROR(with_row(PointwiseMode_t::DIV, scores_, sums_, others_));
    return matmul(packed("P", score_dims_), others_, packed("V", dims), data_.v.data(), result);
  }

 private:
  static Pointwise_attributes pointwise(PointwiseMode_t mode) {
    return Pointwise_attributes().set_mode(mode);
  }

  error_t matmul(const Tensor_attributes& left, float* left_data, const Tensor_attributes& right,
                 float* right_data, float* result) {
    Graph graph = float_graph("matmul alone");
    auto a = graph.tensor(left);
    auto b = graph.tensor(right);
    auto c = graph.matmul(a, b, Matmul_attributes());
    c->set_output(true);
    return sequence_.add(std::move(graph), {{a, left_data}, {b, right_data}, {c, result}});
  }

  error_t scale() {
    Graph graph = float_graph("scale alone");
    auto x = graph.tensor(packed("scores", score_dims_));
    auto y = graph.pointwise(x, graph.tensor(data_.scale()), pointwise(PointwiseMode_t::MUL));
    y->set_output(true);
    return sequence_.add(std::move(graph), {{x, scores_}, {y, others_}});
  }

  /// mask = row >= column, from three small graphs.
  error_t make_mask() {
    const std::vector<std::int64_t> dims{1, 1, data_.length, data_.length};
    for (const std::int64_t axis : {2, 3}) {
      Graph graph = float_graph("coordinates alone");
      auto x = graph.tensor(packed("shape", dims));
      auto y = graph.pointwise(x, pointwise(PointwiseMode_t::GEN_INDEX).set_axis(axis));
      y->set_output(true);
      float* result = axis == 2 ? rows_ : columns_;
      CHECK_WARPLOOM_ERROR(sequence_.add(std::move(graph), {{x, scores_}, {y, result}}));
    }
    Graph graph = float_graph("comparison alone");
    auto row = graph.tensor(packed("row", dims));
    auto column = graph.tensor(packed("column", dims));
    auto y = graph.pointwise(row, column, pointwise(PointwiseMode_t::CMP_GE));
    y->set_output(true).set_data_type(DataType_t::BOOLEAN);
    return sequence_.add(std::move(graph), {{row, rows_}, {column, columns_}, {y, mask_.data()}});
  }

  error_t apply_mask() {
    Graph graph = float_graph("selection alone");
    auto x = graph.tensor(packed("scores", score_dims_));
    auto mask = graph.tensor(
        packed("mask", {1, 1, data_.length, data_.length}).set_data_type(DataType_t::BOOLEAN));
    auto hidden = graph.tensor(-std::numeric_limits<float>::infinity());
    auto y = graph.pointwise(x, hidden, mask, pointwise(PointwiseMode_t::BINARY_SELECT));
    y->set_output(true);
    return sequence_.add(std::move(graph), {{x, others_}, {mask, mask_.data()}, {y, scores_}});
  }

  error_t reduce(ReductionMode_t mode, float* from, float* to) {
    Graph graph = float_graph("reduction alone");
    auto x = graph.tensor(packed("scores", score_dims_));
    auto y = graph.reduction(x, Reduction_attributes().set_mode(mode));
    y->set_output(true).set_dim(row_dims_).set_stride(packed("", row_dims_).get_stride());
    return sequence_.add(std::move(graph), {{x, from}, {y, to}});
  }

  error_t with_row(PointwiseMode_t mode, float* from, float* row, float* to) {
    Graph graph = float_graph("row by row alone");
    auto x = graph.tensor(packed("scores", score_dims_));
    auto r = graph.tensor(packed("row", row_dims_));
    auto y = graph.pointwise(x, r, pointwise(mode));
    y->set_output(true);
    return sequence_.add(std::move(graph), {{x, from}, {r, row}, {y, to}});
  }

  error_t exponential() {
    Graph graph = float_graph("exponential alone");
    auto x = graph.tensor(packed("scores", score_dims_));
    auto y = graph.pointwise(x, pointwise(PointwiseMode_t::EXP));
    y->set_output(true);
    return sequence_.add(std::move(graph), {{x, others_}, {y, scores_}});
  }

  Attention& data_;
  Sequence& sequence_;
  std::vector<std::int64_t> score_dims_, row_dims_;
  float *scores_, *others_, *largest_, *sums_, *rows_, *columns_;
  std::vector<std::uint8_t> mask_;  // BOOLEAN takes a byte
};

std::vector<double> compute_in_double(const Attention& data) {
  const std::int64_t length = data.length, size = data.size;
  std::vector<double> result(static_cast<std::size_t>(data.outputs()));
  for_each_in_parallel(data.batch * data.heads, [&, length, size](std::int64_t head) {
    const auto element = [&](const std::vector<float>& tensor, std::int64_t row, std::int64_t i) {
      return tensor[static_cast<std::size_t>((head * length + row) * size + i)];
    };
    const Matrix keys(size, length,
                      [&](std::int64_t i, std::int64_t key) { return element(data.k, key, i); });
    const Matrix values(length, size,
                        [&](std::int64_t key, std::int64_t i) { return element(data.v, key, i); });
    std::vector<double> query(static_cast<std::size_t>(size));
    std::vector<double> weights(static_cast<std::size_t>(length));
    for (std::int64_t row = 0; row < length; ++row) {
      const std::int64_t visible = row + 1;
      for (std::int64_t i = 0; i < size; ++i) {
        query[static_cast<std::size_t>(i)] = data.scale() * double{element(data.q, row, i)};
      }
      keys.multiply(query.data(), size, visible, weights.data());
      const double largest = *std::max_element(weights.begin(), weights.begin() + visible);
      double sum = 0;
      for (std::int64_t key = 0; key < visible; ++key) {
        double& weight = weights[static_cast<std::size_t>(key)];
        weight = std::exp(weight - largest);
        sum += weight;
      }
      double* out = result.data() + (head * length + row) * size;
      values.multiply(weights.data(), visible, size, out);
      for (std::int64_t i = 0; i < size; ++i) out[i] /= sum;
    }
  });
  return result;
}

}  // namespace

error_t attend(Tour& tour) {
  Attention data{tour.is_quick() ? 1 : 4, tour.is_quick() ? 4 : 16, 1024, 64, {}, {}, {}};
  tour.begin(4, "Causal attention in one kernel");
  tour.say(fmt::format(
      "Batch {}, {} heads, sequence {}, head size {}. One operation at a time it takes two buffers "
      "of {} MB for the scores alone; in one kernel a tile of scores lives in cache, and what the "
      "mask hides is never computed.",
      data.batch, data.heads, data.length, data.size, data.scores() * 4 / 1'000'000));
  data.q = random_numbers(data.outputs(), 7);
  data.k = random_numbers(data.outputs(), 8);
  data.v = random_numbers(data.outputs(), 9);

  std::vector<float> o(data.q.size()), o_unfused(data.q.size());
  Result<BuiltGraph> built = build_fused(tour, data, o.data());
  if (built.is_bad()) return built.error();
  BuiltGraph& fused = built.value();
  Sequence unfused(tour.handle());
  OneByOne one_by_one(data, unfused);
  CHECK_WARPLOOM_ERROR(one_by_one.describe(o_unfused.data()));
  CHECK_WARPLOOM_ERROR(fused.run());
  CHECK_WARPLOOM_ERROR(unfused.run());

  const std::vector<double> wanted = compute_in_double(data);
  constexpr double kTolerance = 1e-5;
  tour.check(compare("O, one graph", o.data(), wanted.data(), data.outputs(), kTolerance));
  tour.check(compare("O, one operation at a time", o_unfused.data(), wanted.data(), data.outputs(),
                     kTolerance));
  tour.draw("attention: one operation, one kernel", fused.graph());

  Result<std::vector<double>> seconds = time_in_turns(
      {[&] { return fused.run(); }, [&] { return unfused.run(); }}, tour.is_quick() ? 0.2 : 1.5);
  if (seconds.is_bad()) return seconds.error();
  tour.race({"causal attention", seconds.value()[0], seconds.value()[1], data.operations(),
             unfused.size(), unfused.intermediate_bytes(), fused.workspace_bytes(),
             fused.plan_name()});
  tour.conclude(fmt::format("the two products of what the mask leaves at {:.3f} TFLOP/s",
                            data.operations() / seconds.value()[0] * 1e-12));
  return {};
}

}  // namespace tour
