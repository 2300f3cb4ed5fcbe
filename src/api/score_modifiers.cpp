// Masks as graphs: coordinates, comparisons, a selection.
#include <warploom/score_modifiers.h>

#include <cmath>
#include <limits>
#include <numbers>

#include <warploom/graph.h>

namespace warploom::graph::attn::score_modifiers {
namespace {

constexpr size_t kHeads = 1, kRows = 2, kKeys = 3;

TensorPtr scalar(Graph& graph, float value) {
  return graph.tensor(Tensor_attributes(value));
}

Pointwise_attributes mode(PointwiseMode_t value, const char* name) {
  return Pointwise_attributes().set_mode(value).set_name(name);
}

/// Coordinates as floats, like all that they are compared with.
TensorPtr coordinate(Graph& graph, const TensorPtr& score, size_t axis, const char* name) {
  auto index = graph.pointwise(
      score, mode(PointwiseMode_t::GEN_INDEX, name).set_axis(static_cast<int64_t>(axis)));
  index->set_data_type(DataType_t::FLOAT);
  return index;
}

TensorPtr combine(Graph& graph, PointwiseMode_t how, const char* name, const TensorPtr& a,
                  const TensorPtr& b) {
  auto result = graph.pointwise(a, b, mode(how, name));
  return result->set_data_type(DataType_t::FLOAT), result;
}

/// score where `a how b`, -inf elsewhere.
TensorPtr keep_where(Graph& graph, const TensorPtr& score, PointwiseMode_t how, const TensorPtr& a,
                     const TensorPtr& b) {
  auto is_kept = graph.pointwise(a, b, mode(how, "is_seen"));
  is_kept->set_data_type(DataType_t::BOOLEAN);
  return graph.pointwise(score, scalar(graph, get_negative_inf_value()), is_kept,
                         mode(PointwiseMode_t::BINARY_SELECT, "mask"));
}

/// How far right of i = j the diagonal lies; null for not at all.
TensorPtr diagonal_shift(Graph& graph, DiagonalAlignment_t alignment, int64_t s_q, int64_t s_kv,
                         const TensorPtr& seq_len_q, const TensorPtr& seq_len_kv) {
  if (alignment != DiagonalAlignment_t::BOTTOM_RIGHT) return nullptr;
  const auto length = [&](const TensorPtr& tensor, int64_t otherwise) {
    return tensor ? tensor : scalar(graph, static_cast<float>(otherwise));
  };
  if (!seq_len_q && !seq_len_kv) return scalar(graph, static_cast<float>(s_kv - s_q));
  return combine(graph, PointwiseMode_t::SUB, "diagonal", length(seq_len_kv, s_kv),
                 length(seq_len_q, s_q));
}

}  // namespace

float get_negative_inf_value() {
  return -std::numeric_limits<float>::infinity();
}

TensorPtr causal_mask(std::shared_ptr<Graph> graph, TensorPtr score) {
  return sliding_window_mask(graph, score, DiagonalAlignment_t::TOP_LEFT, std::nullopt, 0, 0, 0,
                             nullptr, nullptr);
}

TensorPtr causal_mask_bottom_right(std::shared_ptr<Graph> graph, TensorPtr score, int64_t s_q,
                                   int64_t s_kv, TensorPtr seq_len_q, TensorPtr seq_len_kv) {
  return sliding_window_mask(graph, score, DiagonalAlignment_t::BOTTOM_RIGHT, std::nullopt, 0, s_q,
                             s_kv, seq_len_q, seq_len_kv);
}

TensorPtr padding_mask(std::shared_ptr<Graph> graph, TensorPtr score, TensorPtr seq_len_kv,
                       TensorPtr seq_len_q) {
  score = keep_where(*graph, score, PointwiseMode_t::CMP_LT,
                     coordinate(*graph, score, kKeys, "key"), seq_len_kv);
  return keep_where(*graph, score, PointwiseMode_t::CMP_LT, coordinate(*graph, score, kRows, "row"),
                    seq_len_q);
}

TensorPtr bias(std::shared_ptr<Graph> graph, TensorPtr score, TensorPtr bias) {
  return graph->pointwise(score, bias, mode(PointwiseMode_t::ADD, "bias"));
}

// 2^(a h + b) with a and b by the formula of ops/alibi.h, chosen by h < power.
TensorPtr alibi_mask(std::shared_ptr<Graph> graph, TensorPtr score, TensorPtr& slopes,
                     int64_t heads, int64_t& bytes) {
  Graph& g = *graph;
  double power = 1;
  while (power * 2 <= static_cast<double>(heads)) power *= 2;
  const double step = -8 * std::numbers::ln2 / power;
  const TensorPtr head = coordinate(g, score, kHeads, "head");
  const auto slope = [&](double factor, double offset) {
    auto exponent =
        combine(g, PointwiseMode_t::MUL, "exponent", head, scalar(g, static_cast<float>(factor)));
    exponent = combine(g, PointwiseMode_t::ADD, "exponent", exponent,
                       scalar(g, static_cast<float>(offset)));
    auto result = g.pointwise(exponent, mode(PointwiseMode_t::EXP, "slope"));
    return result->set_data_type(DataType_t::FLOAT), result;
  };
  slopes = slope(step, step);
  if (power != static_cast<double>(heads)) {
    auto is_first =
        g.pointwise(head, scalar(g, static_cast<float>(power)), mode(PointwiseMode_t::CMP_LT, ""));
    is_first->set_data_type(DataType_t::BOOLEAN);
    slopes = g.pointwise(slopes, slope(step, step / 2 - step * power), is_first,
                         mode(PointwiseMode_t::BINARY_SELECT, "slopes"));
    slopes->set_data_type(DataType_t::FLOAT);
  }
  bytes = 0;
  const auto distance =
      combine(g, PointwiseMode_t::SUB, "distance", coordinate(g, score, kKeys, "key"),
              coordinate(g, score, kRows, "row"));
  return g.pointwise(score, combine(g, PointwiseMode_t::MUL, "alibi", distance, slopes),
                     mode(PointwiseMode_t::ADD, "alibi"));
}

TensorPtr sliding_window_mask(std::shared_ptr<Graph> graph, TensorPtr score,
                              DiagonalAlignment_t alignment, std::optional<int64_t> left_bound,
                              std::optional<int64_t> right_bound, int64_t s_q, int64_t s_kv,
                              TensorPtr seq_len_q, TensorPtr seq_len_kv) {
  Graph& g = *graph;
  if (!left_bound && !right_bound) return score;
  const TensorPtr key = coordinate(g, score, kKeys, "key");
  TensorPtr row = coordinate(g, score, kRows, "row");
  if (const auto shift = diagonal_shift(g, alignment, s_q, s_kv, seq_len_q, seq_len_kv))
    row = combine(g, PointwiseMode_t::ADD, "diagonal", row, shift);
  const auto moved = [&](int64_t by) {
    if (by == 0) return row;
    return combine(g, PointwiseMode_t::ADD, "bound", row, scalar(g, static_cast<float>(by)));
  };
  if (right_bound) score = keep_where(g, score, PointwiseMode_t::CMP_GE, moved(*right_bound), key);
  if (left_bound) score = keep_where(g, score, PointwiseMode_t::CMP_LT, moved(-*left_bound), key);
  return score;
}

TensorPtr Softcap::forward(std::shared_ptr<Graph> graph, TensorPtr score, TensorPtr cap) {
  scaled_ = graph->pointwise(score, cap, mode(PointwiseMode_t::DIV, "softcap"));
  const auto bounded = graph->pointwise(scaled_, mode(PointwiseMode_t::TANH_FWD, "softcap"));
  return graph->pointwise(bounded, cap, mode(PointwiseMode_t::MUL, "softcap"));
}

// cap tanh'(score / cap) / cap.
TensorPtr Softcap::backward(std::shared_ptr<Graph> graph, TensorPtr d_score, TensorPtr) {
  return graph->pointwise(d_score, scaled_, mode(PointwiseMode_t::TANH_BWD, "softcap"));
}

}  // namespace warploom::graph::attn::score_modifiers
