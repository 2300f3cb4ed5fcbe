#pragma once
/// Operations of the cuDNN Frontend that graphs can describe and that this version does not run:
/// validate() answers GRAPH_NOT_SUPPORTED with the operation's name.
#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// Output rows of expert e: those of Token from FirstTokenOffset[e] on, times Weight[e].
class Moe_grouped_matmul_attributes : public Attributes<Moe_grouped_matmul_attributes> {
 public:
  static constexpr bool kIsDeclaredOnly = true;
  static constexpr std::string_view kTag = "MOE_GROUPED_MATMUL";
  enum Input : size_t { Token, Weight, FirstTokenOffset, TokenIndex, TokenKs };
  static constexpr Port kInputs[]{Port{"Token", "token"}, Port{"Weight", "weight"},
                                  Port{"FirstTokenOffset", "first_token_offset"},
                                  Port{"TokenIndex", "token_index", kOptional},
                                  Port{"TokenKs", "token_ks", kOptional}};
  static constexpr Port kOutputs[]{Port{"Output", ""}};
  template <class Self = Moe_grouped_matmul_attributes>
  static constexpr auto fields() {
    return std::tuple{field("mode", &Self::mode_, kRequired), field("top_k", &Self::top_k_)};
  }

  Moe_grouped_matmul_attributes& set_mode(MoeGroupedMatmulMode_t value) {
    mode_ = value;
    return *this;
  }
  Moe_grouped_matmul_attributes& set_top_k(int32_t value) {
    top_k_ = value;
    return *this;
  }

 private:
  MoeGroupedMatmulMode_t mode_ = MoeGroupedMatmulMode_t::NONE;
  int64_t top_k_ = 0;
};

/// The gradient of Moe_grouped_matmul for its weights.
class Moe_grouped_matmul_bwd_attributes : public Attributes<Moe_grouped_matmul_bwd_attributes> {
 public:
  static constexpr bool kIsDeclaredOnly = true;
  static constexpr std::string_view kTag = "MOE_GROUPED_MATMUL_BWD";
  enum Input : size_t { DOutput, Token, FirstTokenOffset };
  static constexpr Port kInputs[]{Port{"DOutput", "doutput"}, Port{"Token", "token"},
                                  Port{"FirstTokenOffset", "first_token_offset"}};
  static constexpr Port kOutputs[]{Port{"DWeight", ""}};
  template <class = void>
  static constexpr auto fields() {
    return std::tuple{};
  }
};

/// X within a band of diagonals, B outside of it.
class DiagonalBandMask_attributes : public Attributes<DiagonalBandMask_attributes> {
 public:
  static constexpr bool kIsDeclaredOnly = true;
  static constexpr std::string_view kTag = "DIAGONAL_BAND_MASK";
  enum Input : size_t { X, B, SEQ_LEN_Q, SEQ_LEN_KV, LeftBound, ShiftRightBound };
  static constexpr Port kInputs[]{Port{"X", ""},
                                  Port{"B", ""},
                                  Port{"SEQ_LEN_Q", "", kOptional},
                                  Port{"SEQ_LEN_KV", "", kOptional},
                                  Port{"LeftBound", "", kOptional},
                                  Port{"ShiftRightBound", "", kOptional}};
  static constexpr Port kOutputs[]{Port{"Y", ""}};
  template <class Self = DiagonalBandMask_attributes>
  static constexpr auto fields() {
    return std::tuple{field("comparison_mode", &Self::comparison_mode_)};
  }

  DiagonalBandMask_attributes& set_comparison_mode(PointwiseMode_t value) {
    comparison_mode_ = value;
    return *this;
  }

 private:
  PointwiseMode_t comparison_mode_ = PointwiseMode_t::CMP_GT;
};

}  // namespace warploom::graph
