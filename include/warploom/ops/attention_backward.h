#pragma once
#include <warploom/ops/attention.h>

namespace warploom::graph {

/// The gradient of attention. With P = exp(scores - Stats), Z the dropout's factors (1 without) and
/// D = rowsum(dO O):
///   dV = (P Z)^T dO       dS = P (Z (dO V^T) - D)       dQ = scale dS K       dK = scale dS^T Q
/// summed over the query heads that share a head of K or V. dBias is dS summed to the dims of the
/// bias, DSINK_TOKEN is -D exp(sink - Stats) summed over batches and rows. A row that sees no key
/// has dQ = 0 and adds nothing. dQ, dK and dV have the dims of Q, K and V, and strides of their
/// own. The same tensors as in the forward operation, and these gradients, may have ragged offsets.
class SDPA_backward_attributes : public Attention_attributes<SDPA_backward_attributes> {
 public:
  static constexpr std::string_view kTag = "SDPA_BWD";
  enum Input : size_t {
    Q,
    K,
    V,
    O,
    dO,
    Stats,
    Attn_scale,
    Bias,
    SEQ_LEN_Q,
    SEQ_LEN_KV,
    Seed,
    Offset,
    Dropout_mask,
    Dropout_scale,
    Dropout_scale_inv,
    SINK_TOKEN,
    RAGGED_OFFSET_Q,
    RAGGED_OFFSET_K,
    RAGGED_OFFSET_V,
    RAGGED_OFFSET_O,
    RAGGED_OFFSET_dO,
    RAGGED_OFFSET_Stats,
    RAGGED_OFFSET_dQ,
    RAGGED_OFFSET_dK,
    RAGGED_OFFSET_dV,
  };
  enum Output : size_t { dQ, dK, dV, dBias, RNG_DUMP, DSINK_TOKEN };
  static constexpr Port kInputs[]{Port{"Q", "q"},
                                  Port{"K", "k"},
                                  Port{"V", "v"},
                                  Port{"O", "o"},
                                  Port{"dO", "dO"},
                                  Port{"Stats", "stats"},
                                  Port{"Attn_scale", "attn_scale", kOptional},
                                  Port{"Bias", "bias", kOptional},
                                  Port{"SEQ_LEN_Q", "seq_len_q", kOptional},
                                  Port{"SEQ_LEN_KV", "seq_len_kv", kOptional},
                                  Port{"Seed", "", kOptional},
                                  Port{"Offset", "", kOptional},
                                  Port{"Dropout_mask", "", kOptional},
                                  Port{"Dropout_scale", "", kOptional},
                                  Port{"Dropout_scale_inv", "", kOptional},
                                  Port{"SINK_TOKEN", "sink_token", kOptional},
                                  Port{"RAGGED_OFFSET_Q", "", kOptional},
                                  Port{"RAGGED_OFFSET_K", "", kOptional},
                                  Port{"RAGGED_OFFSET_V", "", kOptional},
                                  Port{"RAGGED_OFFSET_O", "", kOptional},
                                  Port{"RAGGED_OFFSET_dO", "", kOptional},
                                  Port{"RAGGED_OFFSET_Stats", "", kOptional},
                                  Port{"RAGGED_OFFSET_dQ", "", kOptional},
                                  Port{"RAGGED_OFFSET_dK", "", kOptional},
                                  Port{"RAGGED_OFFSET_dV", "", kOptional}};
  static constexpr Port kOutputs[]{Port{"dQ", ""},
                                   Port{"dK", ""},
                                   Port{"dV", ""},
                                   Port{"dBias", "dBias", kOptional},
                                   Port{"RNG_DUMP", "rng_dump", kOptional},
                                   Port{"DSINK_TOKEN", "dSink_token", kOptional}};
  template <class Self = SDPA_backward_attributes>
  static constexpr auto fields() {
    return std::tuple{field("alibi_mask", &Self::alibi_mask_),
                      field("padding_mask", &Self::padding_mask_),
                      field("dropout_probability", &Self::dropout_probability_),
                      field("attn_scale_value", &Self::attn_scale_value_),
                      field("left_bound", &Self::left_bound_),
                      field("right_bound", &Self::right_bound_),
                      field("diagonal_alignment", &Self::diagonal_alignment_),
                      field("max_total_seq_len_q", &Self::max_total_seq_len_q_),
                      field("max_total_seq_len_kv", &Self::max_total_seq_len_kv_),
                      field("is_deterministic_algorithm", &Self::is_deterministic_algorithm_)};
  }

  using Attention_attributes::set_dropout;
  /// As in the forward operation; scale_inv is 1 / scale.
  SDPA_backward_attributes& set_dropout(TensorPtr mask, TensorPtr scale, TensorPtr scale_inv) {
    return set_input(Dropout_mask, std::move(mask))
        .set_input(Dropout_scale, std::move(scale))
        .set_input(Dropout_scale_inv, std::move(scale_inv));
  }
  SDPA_backward_attributes& set_dbias(TensorPtr value) {
    return set_output_tensor(dBias, std::move(value));
  }
  SDPA_backward_attributes& set_dsink_token(TensorPtr value) {
    return set_output_tensor(DSINK_TOKEN, std::move(value));
  }
  /// Takes the gradient of what set_score_mod's function returned to that of what it was given.
  SDPA_backward_attributes& set_score_mod_bprop(ScoreModifier value) {
    score_mod_bprop_ = std::move(value);
    return *this;
  }
  /// Bounds of the tokens of all batches together, of ragged tensors. Not needed here.
  SDPA_backward_attributes& set_max_total_seq_len_q(int64_t value) {
    max_total_seq_len_q_ = value;
    return *this;
  }
  SDPA_backward_attributes& set_max_total_seq_len_kv(int64_t value) {
    max_total_seq_len_kv_ = value;
    return *this;
  }
  /// The CPU's algorithm always is.
  SDPA_backward_attributes& set_deterministic_algorithm(bool value) {
    is_deterministic_algorithm_ = value;
    return *this;
  }

  const ScoreModifier& get_score_mod_bprop() const { return score_mod_bprop_; }
  bool get_deterministic_algorithm() const { return is_deterministic_algorithm_; }

 private:
  ScoreModifier score_mod_bprop_;
  std::optional<int64_t> max_total_seq_len_q_, max_total_seq_len_kv_;
  bool is_deterministic_algorithm_ = false;
};

using Scaled_dot_product_flash_attention_backward_attributes = SDPA_backward_attributes;

/// The gradient of attention on 8-bit floats. Described here; no engine of this version runs it.
class SDPA_fp8_backward_attributes : public Attention_attributes<SDPA_fp8_backward_attributes> {
 public:
  static constexpr bool kIsDeclaredOnly = true;
  static constexpr std::string_view kTag = "SDPA_FP8_BWD";
  enum Input : size_t {
    Q,
    Q_T,
    K,
    K_T,
    V,
    O,
    dO,
    dO_T,
    dO_f16,
    Stats,
    Descale_Q,
    Descale_Q_T,
    Descale_K,
    Descale_K_T,
    Descale_V,
    Descale_O,
    Descale_dO,
    Descale_dO_T,
    Descale_S,
    Descale_dP,
    Scale_S,
    Scale_dQ,
    Scale_dK,
    Scale_dV,
    Scale_dP,
    Attn_scale,
    Bias,
    SEQ_LEN_Q,
    SEQ_LEN_KV,
    Seed,
    Offset,
    Dropout_mask,
    Dropout_scale,
    SINK_TOKEN,
  };
  enum Output : size_t {
    dQ,
    dK,
    dV,
    Amax_dQ,
    Amax_dK,
    Amax_dV,
    Amax_dP,
    RNG_DUMP,
    DSINK_TOKEN,
  };
  static constexpr Port kInputs[]{Port{"Q", "q"},
                                  Port{"Q_T", "q_T", kOptional},
                                  Port{"K", "k"},
                                  Port{"K_T", "k_T", kOptional},
                                  Port{"V", "v"},
                                  Port{"O", "o"},
                                  Port{"dO", "dO"},
                                  Port{"dO_T", "dO_T", kOptional},
                                  Port{"dO_f16", "dO_f16", kOptional},
                                  Port{"Stats", "stats"},
                                  Port{"Descale_Q", "descale_q"},
                                  Port{"Descale_Q_T", "descale_q_T", kOptional},
                                  Port{"Descale_K", "descale_k"},
                                  Port{"Descale_K_T", "descale_k_T", kOptional},
                                  Port{"Descale_V", "descale_v"},
                                  Port{"Descale_O", "descale_o", kOptional},
                                  Port{"Descale_dO", "descale_dO"},
                                  Port{"Descale_dO_T", "descale_dO_T", kOptional},
                                  Port{"Descale_S", "descale_s", kOptional},
                                  Port{"Descale_dP", "descale_dP", kOptional},
                                  Port{"Scale_S", "scale_s", kOptional},
                                  Port{"Scale_dQ", "scale_dQ", kOptional},
                                  Port{"Scale_dK", "scale_dK", kOptional},
                                  Port{"Scale_dV", "scale_dV", kOptional},
                                  Port{"Scale_dP", "scale_dP", kOptional},
                                  Port{"Attn_scale", "attn_scale", kOptional},
                                  Port{"Bias", "", kOptional},
                                  Port{"SEQ_LEN_Q", "seq_len_q", kOptional},
                                  Port{"SEQ_LEN_KV", "seq_len_kv", kOptional},
                                  Port{"Seed", "", kOptional},
                                  Port{"Offset", "", kOptional},
                                  Port{"Dropout_mask", "", kOptional},
                                  Port{"Dropout_scale", "", kOptional},
                                  Port{"SINK_TOKEN", "sink_token", kOptional}};
  // "Amax_d" is what the compatible format has for Amax_dP.
  static constexpr Port kOutputs[]{Port{"dQ", ""},
                                   Port{"dK", ""},
                                   Port{"dV", ""},
                                   Port{"Amax_dQ", ""},
                                   Port{"Amax_dK", ""},
                                   Port{"Amax_dV", ""},
                                   Port{"Amax_d", "", kOptional},
                                   Port{"RNG_DUMP", "", kOptional},
                                   Port{"DSINK_TOKEN", "dSink_token", kOptional}};
  template <class Self = SDPA_fp8_backward_attributes>
  static constexpr auto fields() {
    return std::tuple{field("padding_mask", &Self::padding_mask_),
                      field("dropout_probability", &Self::dropout_probability_),
                      field("left_bound", &Self::left_bound_),
                      field("right_bound", &Self::right_bound_),
                      field("diagonal_alignment", &Self::diagonal_alignment_),
                      field("attn_scale_value", &Self::attn_scale_value_),
                      field("is_deterministic_algorithm", &Self::is_deterministic_algorithm_)};
  }

  using Attention_attributes::set_dropout;
  SDPA_fp8_backward_attributes& set_dropout(TensorPtr mask, TensorPtr scale) {
    return set_input(Dropout_mask, std::move(mask)).set_input(Dropout_scale, std::move(scale));
  }
  SDPA_fp8_backward_attributes& set_dsink_token(TensorPtr value) {
    return set_output_tensor(DSINK_TOKEN, std::move(value));
  }
  SDPA_fp8_backward_attributes& set_deterministic_algorithm(bool value) {
    is_deterministic_algorithm_ = value;
    return *this;
  }

 private:
  bool is_deterministic_algorithm_ = false;
};

/// The same with scales of blocks.
class SDPA_mxfp8_backward : public SDPA_fp8_backward_attributes {
 public:
  static constexpr std::string_view kTag = "SDPA_MXFP8_BWD";
  SDPA_mxfp8_backward() = default;
  explicit SDPA_mxfp8_backward(SDPA_fp8_backward_attributes attributes)
      : SDPA_fp8_backward_attributes(std::move(attributes)) {}
};

}  // namespace warploom::graph
