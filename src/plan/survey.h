#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <warploom/engine.h>

#include "fusion/partition.h"

namespace warploom::plan {

using EngineList = std::vector<std::shared_ptr<const engine::Engine>>;

/// One way to run one group, and the kernel for it once somebody has asked for it.
struct Offer {
  std::shared_ptr<const engine::Engine> engine;
  engine::EngineInfo info;
  engine::Candidate candidate;
  std::string name;                  ///< "cpu.gemm:tile_m=56,tile_n=64"
  double expected_microseconds = 0;  ///< what it is ranked by: predicted, or measured before

  /// Plans share offers, and may be built in parallel.
  std::mutex mutex;
  /// What the kernel is loaded from; it is built where this is empty.
  std::vector<std::byte> payload;
  std::optional<Result<std::shared_ptr<const engine::Kernel>>> kernel;
};
using OfferPtr = std::shared_ptr<Offer>;

struct EngineRefusal {
  std::string engine;
  engine::Refusal refusal;
};

/// What the engines say of a group.
struct GroupSurvey {
  fusion::FusionGroup group;
  std::vector<OfferPtr> offers;  ///< of every engine, the least expected time first
  std::vector<EngineRefusal> refusals;
  /// How expected times compare to predicted ones; 0 when none of the offers was ever measured.
  double measured_per_predicted = 0;
};

/// A group of a partition with the offers that plans choose from, at least one, best first.
struct ResolvedGroup {
  std::shared_ptr<const GroupSurvey> survey;
  std::vector<OfferPtr> offers;
};

/// A partition whose every group somebody takes.
struct ResolvedPartition {
  std::string style;
  std::vector<ResolvedGroup> groups;  ///< in the order in which they run
  std::vector<fusion::Alias> aliases;
  std::vector<fusion::FusionStop> stops;
  /// Groups that were split because nobody took them whole.
  std::vector<std::shared_ptr<const GroupSurvey>> refused;
};
using PartitionPtr = std::shared_ptr<const ResolvedPartition>;

/// Who may take a group. Where nobody of these does it is split; a single operation then goes to
/// whoever takes it.
struct Takers {
  enum class Kind {
    kFast,      ///< anyone but fallback and last-resort engines
    kFallback,  ///< fallback engines
    kNamed,     ///< `engine`, and like kFast where it refuses
  };
  Kind kind = Kind::kFast;
  std::string engine = {};
};

class TuningMemory;

/// Asks each engine once about each group of a graph.
class Survey {
 public:
  Survey(std::shared_ptr<const ir::FrozenGraph> graph, EngineList engines, Device device,
         const TuningMemory& tuning);

  const std::shared_ptr<const ir::FrozenGraph>& graph() const { return graph_; }
  const EngineList& engines() const { return engines_; }
  /// Where they differ from those until now, everybody is asked again.
  void use_engines(EngineList engines);
  const Device& device() const { return device_; }

  /// Every partition that can be run. GRAPH_NOT_SUPPORTED with all refusals when there is none;
  /// HEURISTIC_QUERY_FAILED when no operation leads to an output.
  /// Offers are ordered by predicted times, or by what measured ones tell; see TuningMemory.
  Result<std::vector<PartitionPtr>> resolve(const Takers& takers, bool uses_measurements = false);

 private:
  std::shared_ptr<const GroupSurvey> ask(const fusion::FusionGroup& group);
  error_t resolve_group(const fusion::FusionGroup& group, const Takers& takers,
                        ResolvedPartition& partition);
  void set_expected_times(GroupSurvey& survey) const;
  /// So that groups that were measured and groups that were not compare.
  void scale_unmeasured_groups() const;

  std::shared_ptr<const ir::FrozenGraph> graph_;
  EngineList engines_;
  Device device_;
  const TuningMemory& tuning_;
  bool uses_measurements_ = false;
  std::optional<std::vector<fusion::Partition>> partitions_;  ///< made when they are needed
  using GroupKey = std::vector<std::vector<int32_t>>;
  std::map<GroupKey, std::shared_ptr<GroupSurvey>> surveys_;
};

/// An offer of `engine` for a group, its name and mutex in place.
OfferPtr make_offer(std::shared_ptr<const engine::Engine> engine, engine::EngineInfo info,
                    engine::Candidate candidate);

}  // namespace warploom::plan
