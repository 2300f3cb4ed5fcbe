#include "engines/cpu/key_value_store.h"

#include <algorithm>

#include "engines/cpu/special_values.h"

namespace warploom::cpu {
int64_t KeyValueStore::slot_bytes(const AttentionProblem& problem, const GemmKernels& kernels) {
  return (round_up(problem.keys, kernels.nr) * problem.key_size +
          problem.keys * round_up(problem.value_size, kernels.nr)) *
         kernels.a_bytes;
}

void KeyValueStore::bind(const AttentionProblem& problem, const GemmKernels& kernels, int64_t block,
                         int64_t slots, WorkspaceLayout& layout) {
  problem_ = problem;
  kernels_ = &kernels;
  keys_ = problem.keys;
  block_ = block;
  key_panel_stride_ = kernels.k_steps(problem.key_size) * kernels.step_bytes();
  key_bytes_ = divide_up(keys_, kernels.nr) * key_panel_stride_;
  value_panels_ = divide_up(problem.value_size, kernels.nr);
  value_panel_stride_ = kernels.k_steps(keys_) * kernels.step_bytes();
  value_bytes_ = value_panels_ * value_panel_stride_;
  keys_offset_ = layout.add("packed K", slots * key_bytes_);
  values_offset_ = layout.add("packed V", slots * value_bytes_);
  flags_offset_ = layout.add("blocks of V that hold NaN or infinity", slots * blocks());
}

void KeyValueStore::pack_keys(std::byte* workspace, int64_t slot, int64_t index,
                              const std::byte* head, int64_t length) const {
  const int64_t begin = index * block_, end = std::min(begin + block_, length);
  if (begin >= end) return;
  const PlainTensor& k = problem_.k;
  PackSource source;
  source.data = head + begin * k.shape.strides[2] * k.element_bytes();
  source.type = k.type;
  source.rows = problem_.key_size;
  source.columns = end - begin;
  source.row_stride = k.shape.strides[3];
  source.column_stride = k.shape.strides[2];
  kernels_->pack_b(source, const_cast<std::byte*>(key_panel(workspace, slot, begin)),
                   key_panel_stride_);
}

void KeyValueStore::pack_values(std::byte* workspace, int64_t slot, int64_t index,
                                const std::byte* head, int64_t length) const {
  const int64_t begin = index * block_, end = std::min(begin + block_, length);
  auto& flag = reinterpret_cast<uint8_t&>(workspace[flags_offset_ + slot * blocks() + index]);
  flag = 0;
  if (begin >= end) return;
  const PlainTensor& v = problem_.v;
  PackSource source;
  source.data = head + begin * v.shape.strides[2] * v.element_bytes();
  source.type = v.type;
  source.rows = end - begin;
  source.columns = problem_.value_size;
  source.row_stride = v.shape.strides[2];
  source.column_stride = v.shape.strides[3];
  auto* target = const_cast<std::byte*>(value_panel(workspace, slot, 0, begin));
  kernels_->pack_b(source, target, value_panel_stride_);
  for (int64_t panel = 0; panel < value_panels_; ++panel)
    if (cpu::has_special_values(target + panel * value_panel_stride_, kernels_->a_type,
                                (end - begin) * kernels_->nr))
      flag = 1;
}

bool KeyValueStore::has_special_values(const std::byte* workspace, int64_t slot, int64_t begin,
                                       int64_t end) const {
  for (int64_t index = begin / block_; index * block_ < end; ++index)
    if (workspace[flags_offset_ + slot * blocks() + index] != std::byte{0}) return true;
  return false;
}

}  // namespace warploom::cpu
