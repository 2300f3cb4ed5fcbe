#pragma once

#include <string>
#include <utility>
#include <vector>

#include <warploom/engine.h>

namespace warploom::cpu {

inline constexpr int64_t kScratchAlignment = 64;
/// Rows at this distance compete for the same cache lines.
inline constexpr int64_t kPage = 4096;

constexpr int64_t round_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}
constexpr int64_t divide_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit;
}

/// Lays out a kernel's workspace: named parts, one after the other, each aligned to a cache line.
class WorkspaceLayout {
 public:
  /// The offset of a new part. Without bytes there is no part.
  int64_t add(std::string purpose, int64_t bytes) {
    int64_t offset = size_;
    if (bytes <= 0) return offset;
    bytes = round_up(bytes, kScratchAlignment);
    parts_.push_back({std::move(purpose), offset, bytes});
    size_ += bytes;
    return offset;
  }
  int64_t size() const { return size_; }
  const std::vector<engine::WorkspacePart>& parts() const { return parts_; }

 private:
  std::vector<engine::WorkspacePart> parts_;
  int64_t size_ = 0;
};

}  // namespace warploom::cpu
