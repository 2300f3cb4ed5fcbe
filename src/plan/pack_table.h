#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <warploom/error.h>
#include <warploom/frozen_graph.h>

namespace warploom::plan {

/// A tensor that a variant pack has memory for.
struct PackEntry {
  int64_t uid = 0;
  ir::TensorId tensor = ir::kNoTensor;
  bool is_required = true;  ///< not so for results of slices
  bool is_empty = false;    ///< has no elements: its pointer may be null
};

/// The pointers of one execution, by index into the table. On the stack, except for graphs with
/// more tensors than anybody has pointers for.
class PackPointers {
 public:
  explicit PackPointers(size_t count)
      : heap_(count > kInline ? std::make_unique<void*[]>(count) : nullptr),
        pointers_(heap_ ? heap_.get() : inline_.data(), count) {}
  std::span<void*> get() { return pointers_; }

 private:
  static constexpr size_t kInline = 1024;
  std::array<void*, kInline> inline_;
  std::unique_ptr<void*[]> heap_;
  std::span<void*> pointers_;
};

/// What a graph asks of variant packs: every tensor that is neither virtual nor a stored scalar, in
/// ascending order of uids.
class PackTable {
 public:
  explicit PackTable(const ir::FrozenGraph& graph);
  /// The graph has other shapes than before, and is the same otherwise.
  void update();

  const std::vector<PackEntry>& entries() const { return entries_; }
  /// -1 for a tensor that packs do not hold.
  int32_t index_of(ir::TensorId tensor) const { return index_of_[static_cast<size_t>(tensor)]; }

  /// Fills `pointers`; null for an optional tensor that the pack lacks. `uid_of(key, uid)` gives
  /// the uid of a key, or false where it has none. INVALID_VARIANT_PACK names what is missing or
  /// null.
  template <class Key, class UidOf>
  error_t resolve(const std::unordered_map<Key, void*>& pack, UidOf&& uid_of,
                  std::span<void*> pointers) const {
    std::ranges::fill(pointers, missing());
    for (const auto& [key, pointer] : pack) {
      int64_t uid = 0;
      if (!uid_of(key, uid)) continue;
      const auto entry = std::ranges::lower_bound(entries_, uid, {}, &PackEntry::uid);
      if (entry != entries_.end() && entry->uid == uid)
        pointers[static_cast<size_t>(entry - entries_.begin())] = pointer;
    }
    return check(pointers);
  }
  /// `sorted`: the pointers of the required entries, in order.
  error_t resolve(std::span<void* const> sorted, std::span<void*> pointers) const;
  size_t required_count() const;

 private:
  /// A pointer that is nobody's memory.
  static void* missing();
  /// Replaces what is missing but optional by null; an error for what is required.
  error_t check(std::span<void*> pointers) const;
  error_t missing_error(const PackEntry& entry) const;
  error_t null_error(const PackEntry& entry) const;

  const ir::FrozenGraph& graph_;
  std::vector<PackEntry> entries_;
  std::vector<int32_t> index_of_;
};

}  // namespace warploom::plan
