#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warploom::plan {

/// Every part of a workspace begins at a multiple of this.
inline constexpr int64_t kWorkspaceAlignment = 64;

/// Memory that must stay from the beginning of one step to the end of another.
struct WorkspaceRequest {
  int64_t bytes = 0;
  size_t first_step = 0;
  size_t last_step = 0;
};

struct WorkspaceLayout {
  std::vector<int64_t> offsets;  ///< by request; 0 for an empty one
  int64_t bytes = 0;
};

/// Places requests so that those needed at the same time do not overlap. In the order of their
/// first steps, each takes the lowest gap that it fits in.
WorkspaceLayout lay_out(std::span<const WorkspaceRequest> requests);

/// What a caller is asked for: a workspace may begin at any address, so the bytes that aligning it
/// can cost come on top of the layout's.
constexpr int64_t padded_workspace_bytes(int64_t layout_bytes) {
  return layout_bytes == 0 ? 0 : layout_bytes + kWorkspaceAlignment - 1;
}

/// A part of a plan's workspace and what it is for.
struct WorkspaceRange {
  std::string purpose;
  int64_t offset = 0;
  int64_t bytes = 0;
  size_t first_step = 0;
  size_t last_step = 0;
};

}  // namespace warploom::plan
