#pragma once
#include <array>
#include <functional>
#include <optional>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

class Graph;

/// Scaled dot-product attention: O = softmax(mask(scale Q K^T + bias)) V, row by row.
/// Q [b, hq, sq, dqk], K [b, hk, skv, dqk], V [b, hv, skv, dv], O [b, hq, sq, dv]; hq is a multiple
/// of hk and of hv (query head h reads head h hk / hq of K). Any strides; O's dims and strides are
/// the user's. There is no default scale. Stats [b, hq, sq, 1] = log of the sum of exponentials of
/// the scaled, masked row (natural logarithm). A row whose every key is masked gives O = 0 and
/// Stats = -inf. docs/semantics.md has every corner.
class SDPA_attributes : public Attributes<SDPA_attributes> {
 public:
  static constexpr std::string_view kTag = "SDPA";
  enum Input : size_t {
    Q,
    K,
    V,
    Attn_scale,
    Bias,
    SEQ_LEN_Q,
    SEQ_LEN_KV,
    Seed,
    Offset,
    Dropout_mask,
    Dropout_scale,
    Page_table_K,
    Page_table_V,
    Block_mask,
    SINK_TOKEN,
  };
  enum Output : size_t { O, Stats, Max, Sum_exp, RNG_DUMP };
  static constexpr Port kInputs[]{Port{"Q", "q"},
                                  Port{"K", "k"},
                                  Port{"V", "v"},
                                  Port{"Attn_scale", "attn_scale", kOptional},
                                  Port{"Bias", "bias", kOptional},
                                  Port{"SEQ_LEN_Q", "seq_len_q", kOptional},
                                  Port{"SEQ_LEN_KV", "seq_len_kv", kOptional},
                                  Port{"Seed", "", kOptional},
                                  Port{"Offset", "", kOptional},
                                  Port{"Dropout_mask", "", kOptional},
                                  Port{"Dropout_scale", "", kOptional},
                                  Port{"Page_table_K", "paged_attention_k_table", kOptional},
                                  Port{"Page_table_V", "paged_attention_v_table", kOptional},
                                  Port{"Block_mask", "block_mask", kOptional},
                                  Port{"SINK_TOKEN", "sink_token", kOptional}};
  static constexpr Port kOutputs[]{
      Port{"O", ""}, Port{"Stats", "", kOptional}, Port{"Max", "score_max", kOptional},
      Port{"Sum_exp", "score_sum_exp", kOptional}, Port{"RNG_DUMP", "rng_dump", kOptional}};
  template <class = void>
  static constexpr auto fields() {
    using Self = SDPA_attributes;
    return std::tuple{field("generate_stats", &Self::generate_stats_),
                      field("alibi_mask", &Self::alibi_mask_),
                      field("padding_mask", &Self::padding_mask_),
                      field("dropout_probability", &Self::dropout_probability_),
                      field("attn_scale_value", &Self::attn_scale_value_),
                      field("max_seq_len_kv", &Self::max_seq_len_kv_),
                      field("left_bound", &Self::left_bound_),
                      field("right_bound", &Self::right_bound_),
                      field("diagonal_alignment", &Self::diagonal_alignment_),
                      field("implementation", &Self::implementation_),
                      field("unfuse_fma", &Self::unfuse_fma_)};
  }

  SDPA_attributes& set_generate_stats(bool value) {
    generate_stats_ = value;
    return *this;
  }
  /// Deprecated spelling of set_generate_stats(!value).
  SDPA_attributes& set_is_inference(bool value) { return set_generate_stats(!value); }
  SDPA_attributes& set_attn_scale(float value) {
    attn_scale_value_ = value;
    return *this;
  }
  SDPA_attributes& set_attn_scale(TensorPtr value) {
    return set_input(Attn_scale, std::move(value));
  }
  /// Added to the scaled scores; any shape that broadcasts to [b, hq, sq, skv].
  SDPA_attributes& set_bias(TensorPtr value) { return set_input(Bias, std::move(value)); }
  /// With set_seq_len_q and set_seq_len_kv, int32 [b, 1, 1, 1]: rows and keys beyond a batch's
  /// length are masked.
  SDPA_attributes& set_padding_mask(bool value) {
    padding_mask_ = value;
    return *this;
  }
  SDPA_attributes& set_seq_len_q(TensorPtr value) { return set_input(SEQ_LEN_Q, std::move(value)); }
  SDPA_attributes& set_seq_len_kv(TensorPtr value) {
    return set_input(SEQ_LEN_KV, std::move(value));
  }
  /// Where the diagonal i = j lies: TOP_LEFT, or BOTTOM_RIGHT: moved right by skv - sq (a batch's
  /// lengths under a padding mask).
  SDPA_attributes& set_diagonal_alignment(DiagonalAlignment_t value) {
    diagonal_alignment_ = value;
    return *this;
  }
  /// Row i sees keys j > i - value (after alignment): `value` keys including the diagonal.
  SDPA_attributes& set_diagonal_band_left_bound(int64_t value) {
    left_bound_ = value;
    return *this;
  }
  /// Row i sees keys j <= i + value (after alignment); 0 is causal.
  SDPA_attributes& set_diagonal_band_right_bound(int64_t value) {
    right_bound_ = value;
    return *this;
  }
  /// true: TOP_LEFT alignment and right bound 0. false changes nothing.
  SDPA_attributes& set_causal_mask(bool value) {
    if (value)
      set_diagonal_alignment(DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_right_bound(0);
    return *this;
  }
  /// true: BOTTOM_RIGHT alignment and right bound 0. false changes nothing.
  SDPA_attributes& set_causal_mask_bottom_right(bool value) {
    if (value)
      set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT).set_diagonal_band_right_bound(0);
    return *this;
  }
  /// The left bound under another name.
  SDPA_attributes& set_sliding_window_length(int64_t value) {
    return set_diagonal_band_left_bound(value);
  }
  /// The row maximum of the scaled, masked scores, and the sum of exp(score - maximum).
  SDPA_attributes& set_logit_max(TensorPtr value) {
    return set_output_tensor(Max, std::move(value));
  }
  SDPA_attributes& set_score_sum_exp(TensorPtr value) {
    return set_output_tensor(Sum_exp, std::move(value));
  }
  SDPA_attributes& set_implementation(AttentionImplementation_t value) {
    implementation_ = value;
    return *this;
  }
  SDPA_attributes& set_unfuse_fma(bool value) {
    unfuse_fma_ = value;
    return *this;
  }

  // Accepted here and refused by validate() with GRAPH_NOT_SUPPORTED, by name, in this version.
  SDPA_attributes& set_alibi_mask(bool value) {
    alibi_mask_ = value;
    return *this;
  }
  SDPA_attributes& set_dropout(float probability, TensorPtr seed, TensorPtr offset) {
    dropout_probability_ = probability;
    return set_input(Seed, std::move(seed)).set_input(Offset, std::move(offset));
  }
  SDPA_attributes& set_dropout(TensorPtr mask, TensorPtr scale) {
    return set_input(Dropout_mask, std::move(mask)).set_input(Dropout_scale, std::move(scale));
  }
  SDPA_attributes& set_rng_dump(TensorPtr value) {
    return set_output_tensor(RNG_DUMP, std::move(value));
  }
  SDPA_attributes& set_block_mask(TensorPtr value) {
    return set_input(Block_mask, std::move(value));
  }
  SDPA_attributes& set_sink_token(TensorPtr value) {
    return set_input(SINK_TOKEN, std::move(value));
  }
  SDPA_attributes& set_paged_attention_k_table(TensorPtr value) {
    return set_input(Page_table_K, std::move(value));
  }
  SDPA_attributes& set_paged_attention_v_table(TensorPtr value) {
    return set_input(Page_table_V, std::move(value));
  }
  SDPA_attributes& set_paged_attention_max_seq_len_kv(int64_t value) {
    max_seq_len_kv_ = value;
    return *this;
  }
  using ScoreModifier = std::function<TensorPtr(std::shared_ptr<Graph>, TensorPtr)>;
  SDPA_attributes& set_score_mod(ScoreModifier value) {
    score_mod_ = std::move(value);
    return *this;
  }

  std::optional<bool> get_generate_stats() const { return generate_stats_; }
  std::optional<float> get_attn_scale_value() const { return attn_scale_value_; }
  bool get_alibi_mask() const { return alibi_mask_; }
  bool get_padding_mask() const { return padding_mask_; }
  std::optional<float> get_dropout_probability() const { return dropout_probability_; }
  std::optional<int64_t> get_max_seq_len_kv() const { return max_seq_len_kv_; }
  std::optional<int64_t> get_left_bound() const { return left_bound_; }
  std::optional<int64_t> get_right_bound() const { return right_bound_; }
  DiagonalAlignment_t get_diagonal_alignment() const { return diagonal_alignment_; }
  AttentionImplementation_t get_implementation() const { return implementation_; }
  const ScoreModifier& get_score_mod() const { return score_mod_; }
  bool has_bias() const { return Bias < inputs.size() && inputs[Bias]; }
  bool has_sink_token() const { return SINK_TOKEN < inputs.size() && inputs[SINK_TOKEN]; }
  bool has_causal_like_masking() const { return right_bound_.has_value(); }
  bool has_causal_mask_bottom_right() const {
    return right_bound_.has_value() && diagonal_alignment_ == DiagonalAlignment_t::BOTTOM_RIGHT;
  }

 private:
  std::optional<bool> generate_stats_;
  bool alibi_mask_ = false;
  bool padding_mask_ = false;
  std::optional<float> dropout_probability_;
  std::optional<float> attn_scale_value_;
  std::optional<int64_t> max_seq_len_kv_;
  std::optional<int64_t> left_bound_, right_bound_;
  DiagonalAlignment_t diagonal_alignment_ = DiagonalAlignment_t::TOP_LEFT;
  AttentionImplementation_t implementation_ = AttentionImplementation_t::AUTO;
  bool unfuse_fma_ = false;
  ScoreModifier score_mod_;
};

using Scaled_dot_product_flash_attention_attributes = SDPA_attributes;

}  // namespace warploom::graph
