#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <warploom/engine.h>

#include "base/file_store.h"

namespace warploom::plan {

/// Built kernels kept between processes, of engines that save theirs. Safe for concurrent use.
class KernelStore {
 public:
  explicit KernelStore(base::FileStore& store) : store_(store) {}

  /// Loaded, where the store has what an equal kernel saved and the engine takes it; else built,
  /// and kept where it can be saved.
  Result<std::unique_ptr<const engine::Kernel>> load_or_build(const engine::Engine& engine,
                                                              const fusion::FusionGroup& group,
                                                              const engine::Candidate& candidate,
                                                              const Device& device);

 private:
  /// Whether a kernel of this section was ever saved: what others cost is one look for a folder, in
  /// a process.
  bool has_kernels(const std::string& section);

  base::FileStore& store_;
  std::mutex mutex_;
  std::set<std::string> asked_, saved_;  ///< sections
};

/// That of the process's store.
KernelStore& process_kernel_store();

}  // namespace warploom::plan
