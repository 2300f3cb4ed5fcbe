#include "api/attention_composition.h"

#include <limits>

#include <warploom/score_modifiers.h>

namespace warploom::graph {
namespace {

/// An input port, which the attributes need not have given.
TensorPtr port(const std::vector<TensorPtr>& tensors, size_t index) {
  return index < tensors.size() ? tensors[index] : nullptr;
}

/// Adds nodes whose names begin with the attention's.
class Composer {
 public:
  template <class Attributes>
  Composer(Graph& graph, const Attributes& attributes)
      : graph_(graph),
        // It lives as long as the call does, and nobody keeps it.
        shared_(std::shared_ptr<void>(), &graph),
        name_(attributes.name),
        compute_data_type_(attributes.compute_data_type) {}

  template <class Attributes>
  Attributes named(Attributes attributes, const std::string& part) const {
    return attributes.set_name(name_ + "::" + part).set_compute_data_type(compute_data_type_);
  }
  TensorPtr pointwise(PointwiseMode_t mode, const std::string& part, const TensorPtr& a,
                      const TensorPtr& b = nullptr, const TensorPtr& c = nullptr) const {
    const auto attributes = named(Pointwise_attributes().set_mode(mode), part);
    return c   ? graph_.pointwise(a, b, c, attributes)
           : b ? graph_.pointwise(a, b, attributes)
               : graph_.pointwise(a, attributes);
  }
  TensorPtr matmul(const std::string& part, const TensorPtr& a, const TensorPtr& b) const {
    return graph_.matmul(a, b, named(Matmul_attributes(), part));
  }
  TensorPtr transposed(const TensorPtr& x, const std::string& part) const {
    auto y = graph_.transpose(x, named(Transpose_attributes().set_permutation({0, 1, 3, 2}), part));
    // A view has the type of what it shows, whatever the graph's intermediate type is.
    if (x->get_data_type() != DataType_t::NOT_SET) y->set_data_type(x->get_data_type());
    return y;
  }
  TensorPtr sum(const std::string& part, const TensorPtr& x, const std::vector<int64_t>& dims,
                const TensorPtr& target = nullptr) const {
    auto attributes = named(Reduction_attributes().set_mode(ReductionMode_t::ADD), part);
    if (target) attributes.outputs = {target};
    auto y = graph_.reduction(x, attributes);
    if (y->get_dim().empty()) y->set_dim(dims);
    return y;
  }
  TensorPtr scalar(float value) const { return graph_.tensor(Tensor_attributes(value)); }

  /// Scaled and modified scores, with bias and masks.
  template <class Attention>
  TensorPtr scores(const Attention& attention, const TensorPtr& q, const TensorPtr& k) const {
    namespace modifiers = attn::score_modifiers;
    const auto input = [&](size_t index) { return port(attention.inputs, index); };
    TensorPtr score = matmul("score", q, transposed(k, "K_transposed"));
    if (const TensorPtr factor = scale(attention))
      score = pointwise(PointwiseMode_t::MUL, "scale", score, factor);
    score = attention.get_score_mod()(shared_, score);
    if (const auto bias = input(Attention::Bias))
      score = pointwise(PointwiseMode_t::ADD, "bias", score, bias);
    if (attention.get_alibi_mask()) {
      TensorPtr slopes;
      int64_t bytes = 0;
      score = modifiers::alibi_mask(shared_, score, slopes, extent(q, 1), bytes);
    }
    TensorPtr seq_len_q, seq_len_kv;
    if (attention.get_padding_mask()) {
      seq_len_q = input(Attention::SEQ_LEN_Q);
      seq_len_kv = input(Attention::SEQ_LEN_KV);
      score = modifiers::padding_mask(shared_, score, seq_len_kv, seq_len_q);
    }
    return modifiers::sliding_window_mask(shared_, score, attention.get_diagonal_alignment(),
                                          attention.get_left_bound(), attention.get_right_bound(),
                                          extent(q, 2), extent(k, 2), seq_len_q, seq_len_kv);
  }

  template <class Attention>
  TensorPtr scale(const Attention& attention) const {
    if (const auto value = attention.get_attn_scale_value()) return scalar(*value);
    return port(attention.inputs, Attention::Attn_scale);
  }

  /// Summed over the heads of Q that share one: [b, hq, s, d] to [b, heads, s, d].
  TensorPtr sum_of_heads(const TensorPtr& x, const TensorPtr& like, const TensorPtr& q,
                         const std::string& part) const {
    const std::vector<int64_t>& dims = like->get_dim();
    if (dims.size() != 4 || dims[1] == 0 || extent(q, 1) == dims[1]) return x;
    const int64_t shared = extent(q, 1) / dims[1];
    const auto reshaped = [&](const TensorPtr& from, const std::vector<int64_t>& to) {
      return graph_.reshape(
          from, named(Reshape_attributes().set_reshape_mode(ReshapeMode_t::LOGICAL).set_dim(to),
                      part + "_heads"));
    };
    const auto split = reshaped(x, {dims[0], dims[1], shared, dims[2], dims[3]});
    return reshaped(sum(part + "_sum", split, {dims[0], dims[1], 1, dims[2], dims[3]}), dims);
  }

  static int64_t extent(const TensorPtr& tensor, size_t axis) {
    return axis < tensor->get_dim().size() ? tensor->get_dim()[axis] : 0;
  }

  /// A result under the name that it has as the attention's.
  TensorPtr result(TensorPtr tensor, const std::string& port_name) const {
    tensor->set_name(name_ + "::" + port_name);
    return tensor;
  }
  const std::shared_ptr<Graph>& shared() const { return shared_; }
  Graph& graph() const { return graph_; }

 private:
  Graph& graph_;
  std::shared_ptr<Graph> shared_;
  std::string name_;
  DataType_t compute_data_type_;
};

}  // namespace

bool is_composable(const SDPA_attributes& attributes) {
  using SDPA = SDPA_attributes;
  for (size_t index : {SDPA::Page_table_K, SDPA::Page_table_V, SDPA::Block_mask})
    if (port(attributes.inputs, index)) return false;
  return !attributes.get_dropout_probability();
}

bool is_composable(const SDPA_backward_attributes& attributes) {
  return !attributes.get_dropout_probability();
}

std::array<TensorPtr, 2> compose_attention(Graph& graph, const TensorPtr& q, const TensorPtr& k,
                                           const TensorPtr& v, const SDPA_attributes& attributes) {
  using SDPA = SDPA_attributes;
  const Composer composer(graph, attributes);
  const TensorPtr score = composer.scores(attributes, q, k);
  auto softmax = composer.named(Softmax_attributes().set_axis(3), "softmax");
  softmax.set_sink(port(attributes.inputs, SDPA::SINK_TOKEN));
  TensorPtr stats = port(attributes.outputs, SDPA::Stats);
  if (attributes.get_generate_stats().value_or(false)) {
    if (!stats) {
      stats = std::make_shared<Tensor_attributes>();
      composer.result(stats, "Stats")->set_is_virtual(true);
    }
    softmax.set_stats(stats);
  }
  softmax.set_max(port(attributes.outputs, SDPA::Max));
  softmax.set_sum_exp(port(attributes.outputs, SDPA::Sum_exp));
  TensorPtr probability = graph.softmax(score, softmax);
  if (const auto mask = port(attributes.inputs, SDPA::Dropout_mask)) {
    probability = composer.pointwise(PointwiseMode_t::MUL, "dropout", probability, mask);
    if (const auto scale = port(attributes.inputs, SDPA::Dropout_scale))
      probability = composer.pointwise(PointwiseMode_t::MUL, "dropout_scale", probability, scale);
  }
  return {composer.result(composer.matmul("O", probability, v), "O"), stats};
}

std::array<TensorPtr, 3> compose_attention_backward(Graph& graph,
                                                    const SDPA_backward_attributes& attributes) {
  using Backward = SDPA_backward_attributes;
  using enum PointwiseMode_t;
  const Composer composer(graph, attributes);
  const auto input = [&](size_t index) { return port(attributes.inputs, index); };
  const TensorPtr q = input(Backward::Q), k = input(Backward::K), v = input(Backward::V);
  const TensorPtr stats = input(Backward::Stats), d_o = input(Backward::dO);

  const TensorPtr score = composer.scores(attributes, q, k);
  // A row that sees no key has Stats = -inf and no gradient.
  const TensorPtr sees_any = composer.pointwise(
      CMP_GT, "sees_any", stats, composer.scalar(-std::numeric_limits<float>::infinity()));
  sees_any->set_data_type(DataType_t::BOOLEAN);
  const auto where_any = [&](const TensorPtr& x, const std::string& part) {
    return composer.pointwise(BINARY_SELECT, part, x, composer.scalar(0), sees_any);
  };
  const TensorPtr probability =
      where_any(composer.pointwise(EXP, "exp", composer.pointwise(SUB, "shift", score, stats)),
                "probability");
  const auto dropped = [&](const TensorPtr& x, const std::string& part) {
    const auto mask = input(Backward::Dropout_mask);
    if (!mask) return x;
    return composer.pointwise(MUL, part + "_scale", composer.pointwise(MUL, part, x, mask),
                              input(Backward::Dropout_scale));
  };
  const TensorPtr d_v = composer.sum_of_heads(
      composer.matmul("dV", composer.transposed(dropped(probability, "dropout"), "P_transposed"),
                      d_o),
      v, q, "dV");
  const TensorPtr d_probability =
      dropped(composer.matmul("dP", d_o, composer.transposed(v, "V_transposed")), "dP_dropout");
  const std::vector<int64_t> rows{Composer::extent(q, 0), Composer::extent(q, 1),
                                  Composer::extent(q, 2), 1};
  const TensorPtr dot =
      composer.sum("D", composer.pointwise(MUL, "dO_O", d_o, input(Backward::O)), rows);
  TensorPtr d_score = composer.pointwise(MUL, "dS", probability,
                                         composer.pointwise(SUB, "dP_D", d_probability, dot));
  if (const TensorPtr bias = input(Backward::Bias),
      d_bias = port(attributes.outputs, Backward::dBias);
      bias && d_bias)
    composer.sum("dBias", d_score, bias->get_dim(), d_bias);
  if (const TensorPtr sink = input(Backward::SINK_TOKEN),
      d_sink = port(attributes.outputs, Backward::DSINK_TOKEN);
      sink && d_sink) {
    const auto weight = where_any(
        composer.pointwise(EXP, "sink_exp", composer.pointwise(SUB, "sink_shift", sink, stats)),
        "sink_probability");
    const auto cost = composer.pointwise(MUL, "sink_D", weight, dot);
    composer.sum("dSink", composer.pointwise(NEG, "minus_D", cost), sink->get_dim(), d_sink);
  }
  if (const auto& backwards = attributes.get_score_mod_bprop())
    d_score = backwards(composer.shared(), d_score);
  if (const TensorPtr scale = composer.scale(attributes))
    d_score = composer.pointwise(MUL, "dS_scale", d_score, scale);
  const TensorPtr d_q = composer.matmul("dQ", d_score, k);
  const TensorPtr d_k = composer.sum_of_heads(
      composer.matmul("dK", composer.transposed(d_score, "dS_transposed"), q), k, q, "dK");
  return {composer.result(d_q, "dQ"), composer.result(d_k, "dK"), composer.result(d_v, "dV")};
}

}  // namespace warploom::graph
