#pragma once

#include <string>
#include <string_view>
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
  /// The offset of a new part. Without bytes there is no part. `purpose` is a literal, and `tensor`
  /// the name of the tensor that it speaks of, which outlives this: text is made when it is asked
  /// for.
  int64_t add(const char* purpose, int64_t bytes, std::string_view tensor = {}) {
    const int64_t offset = size_;
    if (bytes <= 0) return offset;
    bytes = round_up(bytes, kScratchAlignment);
    parts_.push_back({purpose, tensor, offset, bytes});
    size_ += bytes;
    return offset;
  }
  int64_t size() const { return size_; }
  std::vector<engine::WorkspacePart> parts() const {
    std::vector<engine::WorkspacePart> parts;
    for (const Part& part : parts_)
      parts.push_back({part.purpose + std::string(part.tensor), part.offset, part.bytes});
    return parts;
  }

 private:
  struct Part {
    const char* purpose;
    std::string_view tensor;
    int64_t offset, bytes;
  };
  std::vector<Part> parts_;
  int64_t size_ = 0;
};

}  // namespace warploom::cpu
