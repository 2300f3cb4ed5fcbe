#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <warploom/device.h>

#include "plan/listed_plan.h"

namespace warploom::plan {

/// What plans depend on beside shapes.
struct CacheKey {
  std::string graph;  ///< graph::identity()
  HeurMode_t mode = HeurMode_t::A;
  std::string device;  ///< library_and_device()
  bool operator<(const CacheKey& other) const {
    return std::tie(graph, mode, device) < std::tie(other.graph, other.mode, other.device);
  }
};

/// The same of another process, as far as it can be written down.
struct SavedKey {
  uint64_t graph = 0;  ///< Graph::key()
  HeurMode_t mode = HeurMode_t::A;
  std::string device;
  auto operator<=>(const SavedKey&) const = default;
};
SavedKey saved_key(const CacheKey& key);

/// A plan of another process: its full name, and what its kernels saved, by step.
struct SavedPlan {
  std::string name;
  std::vector<std::vector<std::byte>> kernels;
};

/// The plans that were listed for graphs, for others that differ from them in shapes alone. Safe
/// for concurrent use.
class PlanCache {
 public:
  using Plans = std::vector<ListedPlanPtr>;

  /// The lists that were made with these engines; usually there is one.
  std::vector<std::shared_ptr<const Plans>> find(const CacheKey& key,
                                                 const EngineList& engines) const;
  /// Of many lists for one key, the last few are kept.
  void add(const CacheKey& key, const EngineList& engines, Plans plans);

  std::vector<SavedPlan> find_saved(const SavedKey& key) const;
  void add_saved(SavedKey key, std::vector<SavedPlan> plans);
  /// Everything, in the order of keys.
  std::map<SavedKey, std::vector<SavedPlan>> save() const;
  bool is_empty() const;

 private:
  struct List {
    EngineList engines;
    std::shared_ptr<const Plans> plans;
  };

  mutable std::mutex mutex_;
  std::map<CacheKey, std::vector<List>> lists_;
  std::map<SavedKey, std::vector<SavedPlan>> saved_;
};

}  // namespace warploom::plan
