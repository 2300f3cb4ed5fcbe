#pragma once

#include "engines/cpu/attention_problem.h"

namespace warploom::cpu {

/// Keys and values of some heads, packed for the micro-kernels: K transposed in panels of keys, V
/// in panels of columns. Keys beyond a batch's length are left out, and values there are zeros.
class KeyValueStore {
 public:
  /// `block`: keys that are packed, and asked about, together.
  void bind(const AttentionProblem& problem, const GemmKernels& kernels, int64_t block,
            int64_t slots, WorkspaceLayout& layout);

  int64_t blocks() const { return divide_up(keys_, block_); }
  /// Packs block `index` of one K head (one V head) into a slot.
  void pack_keys(std::byte* workspace, int64_t slot, int64_t index, const std::byte* head,
                 int64_t length) const;
  void pack_values(std::byte* workspace, int64_t slot, int64_t index, const std::byte* head,
                   int64_t length) const;

  /// The panel that begins with key `key`, a multiple of the panel's width.
  const std::byte* key_panel(const std::byte* workspace, int64_t slot, int64_t key) const {
    return workspace + keys_offset_ + slot * key_bytes_ + key / kernels_->nr * key_panel_stride_;
  }
  /// Panel `panel` of the columns, from key `key` on.
  const std::byte* value_panel(const std::byte* workspace, int64_t slot, int64_t panel,
                               int64_t key) const {
    return workspace + values_offset_ + slot * value_bytes_ + panel * value_panel_stride_ +
           key * kernels_->step_bytes();
  }
  /// Whether keys [begin, end) have values that are NaN or infinite, and so must not be multiplied
  /// by the zeros of hidden keys.
  bool has_special_values(const std::byte* workspace, int64_t slot, int64_t begin,
                          int64_t end) const;

  int64_t value_panels() const { return value_panels_; }
  /// Of packed keys and values of one slot.
  static int64_t slot_bytes(const AttentionProblem& problem, const GemmKernels& kernels);

 private:
  AttentionProblem problem_;
  const GemmKernels* kernels_ = nullptr;
  int64_t keys_ = 0, block_ = 0, value_panels_ = 0;
  int64_t key_panel_stride_ = 0, key_bytes_ = 0, value_panel_stride_ = 0, value_bytes_ = 0;
  int64_t keys_offset_ = 0, values_offset_ = 0, flags_offset_ = 0;
};

}  // namespace warploom::cpu
