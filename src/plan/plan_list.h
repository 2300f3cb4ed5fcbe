#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <warploom/graph.h>

#include "base/spare.h"
#include "plan/autotune.h"
#include "plan/build.h"
#include "plan/explanation.h"
#include "plan/plan_cache.h"
#include "plan/shaped_plan.h"

namespace warploom::plan {

/// Limits of the user's on which plans may run.
struct Limits {
  int64_t workspace_bytes = INT64_MAX;
  std::vector<std::string> engines;  ///< name components that bar a plan
};

/// Gone, it leaves its memory to the next one.
using ShapedPlanPtr = base::Spare<ShapedPlan>::Pointer;

/// The plans of a frozen graph, best first: listed, filtered, built, tuned. Belongs to one thread
/// while it changes, except that different plans may be built at once; what is const may be called
/// from any thread.
class PlanList {
 public:
  PlanList(std::shared_ptr<const ir::FrozenGraph> graph, EngineList engines, Device device,
           TuningMemory& tuning);
  /// Takes and leaves plans in `cache` from now on, under this graph::identity().
  void use_cache(std::shared_ptr<PlanCache> cache, std::string identity);

  /// The engines that are asked from now on.
  void use_engines(EngineList engines) { survey_.use_engines(std::move(engines)); }

  // --- Listing. Plans are appended; one that is listed already is not listed again ---
  error_t add_mode(HeurMode_t mode);
  /// The engine, with these knobs, on every group that it takes.
  error_t add_engine(const std::string& engine,
                     const std::unordered_map<KnobType_t, int64_t>& knobs);
  error_t add_by_name(const std::string& name);

  // --- Filtering ---
  /// Bars every plan for which `is_barred` holds, with this reason.
  void bar_if(const std::function<bool(const graph::PlanInfo&)>& is_barred,
              const std::string& reason);
  /// GRAPH_EXECUTION_PLAN_CREATION_FAILED with the reasons when no plan is left.
  error_t check_support(const Limits& limits) const;

  // --- Persistence ---
  /// The plan of this full name becomes the last of the list and the candidate. `payloads`: what
  /// its kernels saved, by step, to load them from; none: all are built.
  error_t load(const std::string& full_name, std::span<const std::vector<std::byte>> payloads);
  const std::string& full_name(int64_t index) const { return entry(index).listed->full_name; }
  /// Of a plan that is built: what its kernels save.
  std::vector<std::vector<std::byte>> payloads(int64_t index) const;

  // --- Building ---
  error_t build(BuildPlanPolicy_t policy, bool in_parallel, const Limits& limits);
  /// Makes it the candidate.
  error_t build_at(int64_t index, const Limits& limits);

  // --- Reading ---
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  error_t check_index(int64_t index) const;
  /// Its index is one that check_index() accepts.
  graph::PlanInfo info(int64_t index, const Limits& limits) const;
  /// -1 when none is built.
  int64_t candidate() const { return candidate_.load(std::memory_order_acquire); }
  /// Null when it is not built.
  const Plan* plan(int64_t index) const;
  /// The shapes that plans are built for, and their packs.
  const BindTarget& target() const { return target_; }
  const ir::FrozenGraph& graph() const { return *survey_.graph(); }
  const Device& device() const { return survey_.device(); }
  Explanation explain(const Limits& limits) const;

  /// See Graph::autotune().
  error_t autotune(void* stream, std::span<void* const> pack, void* workspace,
                   std::chrono::nanoseconds budget);
  /// A built plan for other shapes: microseconds, and nothing is built. An error tells why the
  /// shapes contradict, or what the plan cannot do with them.
  Result<ShapedPlanPtr> with_shapes(int64_t index, const graph::ShapeOverrides& overrides) const;
  /// A plan that this engine runs as far as it takes the target's graph, of no list.
  Result<BuiltPlan> built_by(const std::string& engine, const BindTarget& target) const;
  /// True the first time it is called for a plan.
  bool claim_verification(int64_t index) const;

 private:
  struct Entry {
    ListedPlanPtr listed;
    /// Nothing for a plan of a cache: its candidates speak of other shapes.
    std::optional<int64_t> expected_workspace_bytes;
    double measured_microseconds = 0;
    std::string barred;        ///< by notes
    mutable std::mutex mutex;  ///< of the two below
    std::string failure;       ///< why the build failed
    std::unique_ptr<const BuiltPlan> owner;
    std::atomic<const BuiltPlan*> built = nullptr;  ///< owner's, for those who only run it
    const Plan* plan() const {
      const BuiltPlan* const ready = built.load(std::memory_order_acquire);
      return ready ? &ready->plan : nullptr;
    }
    mutable std::atomic<bool> is_verified = false;
    mutable base::Spare<ShapedPlan> spare;

    const Selection& selection() const { return listed->selection; }
    bool is_cached() const { return !expected_workspace_bytes; }
    /// What is known without building it.
    int64_t workspace_bytes() const;
  };

  /// The plans of the cache for a mode, if it has any that serve these shapes.
  bool append_cached(const CacheKey& key);
  std::vector<ListedPlanPtr> ranked(const std::vector<PartitionPtr>& partitions) const;
  std::vector<ListedPlanPtr> ranked_as_saved(const std::vector<PartitionPtr>& partitions,
                                             const CacheKey& key) const;
  /// Those that are not listed yet.
  void append(const std::vector<ListedPlanPtr>& plans, bool are_cached = false);
  /// Moves a plan that is listed to the end: what was asked for by name is always the last.
  void append_last(ListedPlanPtr plan);
  std::string bar_of(const Entry& entry, const Limits& limits) const;
  error_t build_entry(Entry& entry, const Limits& limits);
  Result<BuiltPlan> build_fitting(const Entry& entry) const;
  void build_all(const Limits& limits, bool in_parallel);
  const Entry& entry(int64_t index) const { return *entries_[static_cast<size_t>(index)]; }

  TuningMemory& tuning_;
  Survey survey_;
  BindTarget target_;
  std::shared_ptr<PlanCache> cache_;
  CacheKey cache_key_;  ///< but for the mode
  std::vector<std::unique_ptr<Entry>> entries_;
  std::atomic<int64_t> candidate_ = -1;
};

}  // namespace warploom::plan
