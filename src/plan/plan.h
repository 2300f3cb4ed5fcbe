#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <warploom/engine.h>

#include "plan/workspace.h"

namespace warploom::plan {

/// Where a kernel's pointer comes from.
struct Slot {
  enum class Source {
    kPack,             ///< pointer `index` of the pack
    kWorkspace,        ///< the workspace
    kPackOrWorkspace,  ///< the workspace where the pack has no pointer
    kScalar,           ///< `scalar`
  };
  Source source = Source::kPack;
  size_t index = 0;
  int64_t offset = 0;                    ///< bytes into the workspace
  int64_t view_offset = 0;               ///< bytes to add, for a view of a tensor
  std::array<std::byte, 8> scalar = {};  ///< an element of the tensor's data type
};

/// One launch.
struct Step {
  std::unique_ptr<const engine::BoundKernel> kernel;
  std::vector<Slot> slots;       ///< the group's inputs, then its outputs
  int64_t workspace_offset = 0;  ///< of the kernel's own workspace
  /// The pack index of an optional result that alone this step runs for: without a pointer for it,
  /// the step is left out.
  std::optional<size_t> only_result;
};

/// What runs a graph: kernels in order, and where their memory is. Immutable; run from any number
/// of threads, each with its own workspace.
class Plan {
 public:
  /// More pointers than any kernel has.
  static constexpr size_t kMostSlots = 64;

  Plan(std::vector<Step> steps, int64_t layout_bytes);

  /// Bytes that a caller provides, at any alignment.
  int64_t workspace_bytes() const { return workspace_bytes_; }
  const std::vector<Step>& steps() const { return steps_; }

  /// `pack`: by index into the graph's PackTable. Allocates nothing, takes no lock. INVALID_VALUE
  /// for a null workspace that is needed.
  error_t execute(void* stream, std::span<void* const> pack, void* workspace) const noexcept;
  /// One step alone, for those who time them.
  error_t execute_step(size_t index, void* stream, std::span<void* const> pack,
                       void* workspace) const noexcept;
  /// The workspace is there when it is needed.
  error_t check_workspace(const void* workspace) const;

 private:
  std::vector<Step> steps_;
  int64_t workspace_bytes_;
};

}  // namespace warploom::plan
