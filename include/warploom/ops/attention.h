#pragma once
#include <array>
#include <functional>
#include <optional>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

class Graph;

/// Options that attention and its gradient share. `Derived` has the input ports named here and the
/// output port RNG_DUMP.
template <class Derived>
class Attention_attributes : public Attributes<Derived> {
 public:
  /// Adds nodes to the graph that is given, which is the one the attention is part of, and returns
  /// the scores to go on with. Tensors captured from that graph may be read.
  using ScoreModifier = std::function<TensorPtr(std::shared_ptr<Graph>, TensorPtr)>;

  Derived& set_attn_scale(float value) {
    attn_scale_value_ = value;
    return this->self();
  }
  Derived& set_attn_scale(TensorPtr value) {
    return this->set_input(Derived::Attn_scale, std::move(value));
  }
  /// Added to the scaled scores; any shape that broadcasts to [b, hq, sq, skv].
  Derived& set_bias(TensorPtr value) { return this->set_input(Derived::Bias, std::move(value)); }
  /// true: slope_h (j - i) is added to the score of row i and key j, where the slopes of n heads
  /// are 2^(-8 (h + 1) / n) if n is a power of two.
  Derived& set_alibi_mask(bool value) {
    alibi_mask_ = value;
    return this->self();
  }
  /// With set_seq_len_q and set_seq_len_kv, int32 [b, 1, 1, 1]: rows and keys beyond a batch's
  /// length are masked.
  Derived& set_padding_mask(bool value) {
    padding_mask_ = value;
    return this->self();
  }
  Derived& set_seq_len_q(TensorPtr value) {
    return this->set_input(Derived::SEQ_LEN_Q, std::move(value));
  }
  Derived& set_seq_len_kv(TensorPtr value) {
    return this->set_input(Derived::SEQ_LEN_KV, std::move(value));
  }
  /// Where the diagonal i = j lies: TOP_LEFT, or BOTTOM_RIGHT: moved right by skv - sq (a batch's
  /// lengths under a padding mask).
  Derived& set_diagonal_alignment(DiagonalAlignment_t value) {
    diagonal_alignment_ = value;
    return this->self();
  }
  /// Row i sees keys j > i - value (after alignment): `value` keys including the diagonal.
  Derived& set_diagonal_band_left_bound(int64_t value) {
    left_bound_ = value;
    return this->self();
  }
  /// Row i sees keys j <= i + value (after alignment); 0 is causal.
  Derived& set_diagonal_band_right_bound(int64_t value) {
    right_bound_ = value;
    return this->self();
  }
  /// true: TOP_LEFT alignment and right bound 0. false changes nothing.
  Derived& set_causal_mask(bool value) {
    if (value)
      set_diagonal_alignment(DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_right_bound(0);
    return this->self();
  }
  /// true: BOTTOM_RIGHT alignment and right bound 0. false changes nothing.
  Derived& set_causal_mask_bottom_right(bool value) {
    if (value)
      set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT).set_diagonal_band_right_bound(0);
    return this->self();
  }
  /// The left bound under another name.
  Derived& set_sliding_window_length(int64_t value) { return set_diagonal_band_left_bound(value); }
  /// Each probability is dropped (0) with this probability and else divided by 1 - probability.
  /// Which ones follows from seed and offset, INT32 or INT64, alone.
  Derived& set_dropout(float probability, TensorPtr seed, TensorPtr offset) {
    dropout_probability_ = probability;
    this->set_input(Derived::Seed, std::move(seed));
    return this->set_input(Derived::Offset, std::move(offset));
  }
  /// Receives the mask of dropout with a probability: 1 where kept, else 0.
  Derived& set_rng_dump(TensorPtr value) {
    return this->set_output_tensor(Derived::RNG_DUMP, std::move(value));
  }
  /// A score of one more key per head, [1, hq, 1, 1], that has no value.
  Derived& set_sink_token(TensorPtr value) {
    return this->set_input(Derived::SINK_TOKEN, std::move(value));
  }
  /// Called by the Graph's method when the operation is added, after the scale: the attention is
  /// then composed of single operations instead of being one.
  Derived& set_score_mod(ScoreModifier value) {
    score_mod_ = std::move(value);
    return this->self();
  }

  std::optional<float> get_attn_scale_value() const { return attn_scale_value_; }
  bool get_alibi_mask() const { return alibi_mask_; }
  bool get_padding_mask() const { return padding_mask_; }
  std::optional<float> get_dropout_probability() const { return dropout_probability_; }
  std::optional<int64_t> get_left_bound() const { return left_bound_; }
  std::optional<int64_t> get_right_bound() const { return right_bound_; }
  DiagonalAlignment_t get_diagonal_alignment() const { return diagonal_alignment_; }
  const ScoreModifier& get_score_mod() const { return score_mod_; }
  bool has_bias() const { return has_input(Derived::Bias); }
  bool has_sink_token() const { return has_input(Derived::SINK_TOKEN); }
  bool has_causal_like_masking() const { return right_bound_.has_value(); }
  bool has_causal_mask_bottom_right() const {
    return right_bound_.has_value() && diagonal_alignment_ == DiagonalAlignment_t::BOTTOM_RIGHT;
  }

 protected:
  bool has_input(size_t port) const { return port < this->inputs.size() && this->inputs[port]; }

  bool alibi_mask_ = false;
  bool padding_mask_ = false;
  std::optional<float> dropout_probability_;
  std::optional<float> attn_scale_value_;
  std::optional<int64_t> left_bound_, right_bound_;
  DiagonalAlignment_t diagonal_alignment_ = DiagonalAlignment_t::TOP_LEFT;
  ScoreModifier score_mod_;
};

/// Scaled dot-product attention: O = softmax(mask(scale Q K^T + bias)) V, row by row.
/// Q [b, hq, sq, dqk], K [b, hk, skv, dqk], V [b, hv, skv, dv], O [b, hq, sq, dv]; hq is a multiple
/// of hk and of hv (query head h reads head h hk / hq of K). Any strides; O's dims and strides are
/// the user's. There is no default scale. Stats [b, hq, sq, 1] = log of the sum of exponentials of
/// the scaled, masked row (natural logarithm). A row whose every key is masked gives O = 0 and
/// Stats = -inf. Q, K, V, O and Stats may have ragged offsets, in elements, under a padding mask.
/// docs/semantics.md has every corner.
class SDPA_attributes : public Attention_attributes<SDPA_attributes> {
 public:
  static constexpr std::string_view kTag = "SDPA";
  /// The ports RAGGED_OFFSET_x follow from set_ragged_offset of the tensor at port x.
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
    Descale_Q,
    Descale_K,
    Descale_V,
    Descale_S,
    Scale_S,
    Scale_O,
    RAGGED_OFFSET_Q,
    RAGGED_OFFSET_K,
    RAGGED_OFFSET_V,
    RAGGED_OFFSET_O,
    RAGGED_OFFSET_Stats,
  };
  enum Output : size_t { O, Stats, Max, Sum_exp, RNG_DUMP, Amax_S, Amax_O };
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
                                  Port{"SINK_TOKEN", "sink_token", kOptional},
                                  Port{"Descale_Q", "descale_q", kOptional},
                                  Port{"Descale_K", "descale_k", kOptional},
                                  Port{"Descale_V", "descale_v", kOptional},
                                  Port{"Descale_S", "descale_s", kOptional},
                                  Port{"Scale_S", "scale_s", kOptional},
                                  Port{"Scale_O", "scale_o", kOptional},
                                  Port{"RAGGED_OFFSET_Q", "", kOptional},
                                  Port{"RAGGED_OFFSET_K", "", kOptional},
                                  Port{"RAGGED_OFFSET_V", "", kOptional},
                                  Port{"RAGGED_OFFSET_O", "", kOptional},
                                  Port{"RAGGED_OFFSET_Stats", "", kOptional}};
  static constexpr Port kOutputs[]{Port{"O", ""},
                                   Port{"Stats", "", kOptional},
                                   Port{"Max", "score_max", kOptional},
                                   Port{"Sum_exp", "score_sum_exp", kOptional},
                                   Port{"RNG_DUMP", "rng_dump", kOptional},
                                   Port{"Amax_S", "", kOptional},
                                   Port{"Amax_O", "", kOptional}};
  template <class Self = SDPA_attributes>
  static constexpr auto fields() {
    return std::tuple{field("generate_stats", &Self::generate_stats_),
                      field("alibi_mask", &Self::alibi_mask_),
                      field("padding_mask", &Self::padding_mask_),
                      field("dropout_probability", &Self::dropout_probability_),
                      field("attn_scale_value", &Self::attn_scale_value_),
                      field("max_seq_len_kv", &Self::max_seq_len_kv_),
                      field("left_bound", &Self::left_bound_),
                      field("right_bound", &Self::right_bound_),
                      field("diagonal_alignment", &Self::diagonal_alignment_),
                      field("mma_core_mode", &Self::mma_core_mode_),
                      field("implementation", &Self::implementation_),
                      field("is_mxfp8", &Self::is_mxfp8_),
                      field("unfuse_fma", &Self::unfuse_fma_)};
  }

  SDPA_attributes& set_generate_stats(bool value) {
    generate_stats_ = value;
    return *this;
  }
  /// Deprecated spelling of set_generate_stats(!value).
  SDPA_attributes& set_is_inference(bool value) { return set_generate_stats(!value); }
  using Attention_attributes::set_dropout;
  /// Probabilities are multiplied by mask [b, hq, sq, skv] and scale [1, 1, 1, 1].
  SDPA_attributes& set_dropout(TensorPtr mask, TensorPtr scale) {
    return set_input(Dropout_mask, std::move(mask)).set_input(Dropout_scale, std::move(scale));
  }
  /// UINT8 [b, hq, ceil(sq / 128), ceil(ceil(skv / 128) / 8)]: bit t % 8 (the lowest is bit 0) of
  /// byte t / 8 says whether keys 128 t to 128 t + 127 are seen by 128 rows.
  SDPA_attributes& set_block_mask(TensorPtr value) {
    return set_input(Block_mask, std::move(value));
  }
  /// K is a container [pages, hk, page size, dqk], V likewise; row j of batch b lies on page
  /// table[b, 0, j / page size, 0].
  SDPA_attributes& set_paged_attention_k_table(TensorPtr value) {
    return set_input(Page_table_K, std::move(value));
  }
  SDPA_attributes& set_paged_attention_v_table(TensorPtr value) {
    return set_input(Page_table_V, std::move(value));
  }
  /// skv of paged K and V. Otherwise that of K or V, if one is not paged, else the bias's last dim,
  /// RNG_DUMP's, or as many as there are rows on the pages of a table.
  SDPA_attributes& set_paged_attention_max_seq_len_kv(int64_t value) {
    max_seq_len_kv_ = value;
    return *this;
  }
  /// The row maximum of the scaled, masked scores, and the sum of exp(score - maximum).
  SDPA_attributes& set_logit_max(TensorPtr value) {
    return set_output_tensor(Max, std::move(value));
  }
  SDPA_attributes& set_score_sum_exp(TensorPtr value) {
    return set_output_tensor(Sum_exp, std::move(value));
  }
  /// Changes nothing here: every option runs in any implementation.
  SDPA_attributes& set_implementation(AttentionImplementation_t value) {
    implementation_ = value;
    return *this;
  }
  /// A permission to round twice, which is not made use of.
  SDPA_attributes& set_unfuse_fma(bool value) {
    unfuse_fma_ = value;
    return *this;
  }
  SDPA_attributes& _set_mma_core_mode(DataType_t value) {
    mma_core_mode_ = value;
    return *this;
  }

  std::optional<bool> get_generate_stats() const { return generate_stats_; }
  std::optional<int64_t> get_max_seq_len_kv() const { return max_seq_len_kv_; }
  AttentionImplementation_t get_implementation() const { return implementation_; }

 protected:
  std::optional<bool> generate_stats_;
  std::optional<int64_t> max_seq_len_kv_;
  DataType_t mma_core_mode_ = DataType_t::HALF;
  AttentionImplementation_t implementation_ = AttentionImplementation_t::AUTO;
  bool is_mxfp8_ = false;
  bool unfuse_fma_ = false;
};

using Scaled_dot_product_flash_attention_attributes = SDPA_attributes;
using SDPA_fp8_attributes = SDPA_attributes;

/// Attention on 8-bit floats, with one scale for each tensor. What is stored is a value times its
/// scale, what is read is multiplied by its descale. Amax_S, Amax_O: the greatest magnitude of the
/// probabilities and of O before they are scaled.
class SDPA_fp8_forward : public SDPA_attributes {
 public:
  static constexpr std::string_view kTag = "SDPA_FP8_FWD";
  SDPA_fp8_forward() = default;
  explicit SDPA_fp8_forward(SDPA_attributes attributes) : SDPA_attributes(std::move(attributes)) {
    mma_core_mode_ = DataType_t::FP8_E4M3;
  }
};

/// Attention on 8-bit floats, with one scale for each block of 32 elements: along the head size of
/// Q and K, along the sequence of V. Scales are FP8_E8M0 in the order F8_128x4.
class SDPA_mxfp8_forward : public SDPA_attributes {
 public:
  static constexpr std::string_view kTag = "SDPA_MXFP8_FWD";
  SDPA_mxfp8_forward() = default;
  explicit SDPA_mxfp8_forward(SDPA_attributes attributes) : SDPA_attributes(std::move(attributes)) {
    mma_core_mode_ = DataType_t::FP8_E4M3;
    is_mxfp8_ = true;
  }
};

}  // namespace warploom::graph
