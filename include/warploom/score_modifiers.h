#pragma once
/// Score modifiers of attention: functions for SDPA_attributes::set_score_mod, and parts of them.
/// Each adds nodes to the graph and returns the scores [b, h, sq, skv] to go on with.
#include <cstdint>
#include <memory>
#include <optional>

#include <warploom/error.h>
#include <warploom/tensor.h>

namespace warploom::graph {
class Graph;
}

namespace warploom::graph::attn::score_modifiers {

/// What masked scores become: -infinity.
WARPLOOM_EXPORT float get_negative_inf_value();

/// Row i sees keys j <= i.
WARPLOOM_EXPORT TensorPtr causal_mask(std::shared_ptr<Graph> graph, TensorPtr score);
/// Row i sees keys j <= i + seq_len_kv - seq_len_q of its batch, or i + s_kv - s_q where the
/// tensors are null.
WARPLOOM_EXPORT TensorPtr causal_mask_bottom_right(std::shared_ptr<Graph> graph, TensorPtr score,
                                                   int64_t s_q, int64_t s_kv, TensorPtr seq_len_q,
                                                   TensorPtr seq_len_kv);
/// Rows and keys within their batch's lengths. Those of keys come first.
WARPLOOM_EXPORT TensorPtr padding_mask(std::shared_ptr<Graph> graph, TensorPtr score,
                                       TensorPtr seq_len_kv, TensorPtr seq_len_q);
/// Adds slope (j - i). `slopes` becomes the virtual tensor of the slopes, which need no memory:
/// `bytes` becomes 0.
WARPLOOM_EXPORT TensorPtr alibi_mask(std::shared_ptr<Graph> graph, TensorPtr score,
                                     TensorPtr& slopes, int64_t heads, int64_t& bytes);
WARPLOOM_EXPORT TensorPtr bias(std::shared_ptr<Graph> graph, TensorPtr score, TensorPtr bias);
/// The bounds of an attention; the last four as of causal_mask_bottom_right, for BOTTOM_RIGHT.
WARPLOOM_EXPORT TensorPtr sliding_window_mask(std::shared_ptr<Graph> graph, TensorPtr score,
                                              DiagonalAlignment_t alignment,
                                              std::optional<int64_t> left_bound,
                                              std::optional<int64_t> right_bound, int64_t s_q,
                                              int64_t s_kv, TensorPtr seq_len_q,
                                              TensorPtr seq_len_kv);

/// cap tanh(score / cap), and its gradient, which reads what forward was given: one object for both
/// directions.
class WARPLOOM_EXPORT Softcap {
 public:
  TensorPtr forward(std::shared_ptr<Graph> graph, TensorPtr score, TensorPtr cap);
  TensorPtr backward(std::shared_ptr<Graph> graph, TensorPtr d_score, TensorPtr cap);

 private:
  TensorPtr scaled_;  ///< score / cap
};

}  // namespace warploom::graph::attn::score_modifiers
