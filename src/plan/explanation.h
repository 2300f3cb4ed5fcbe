#pragma once

#include <memory>
#include <string>
#include <vector>

#include <warploom/device.h>
#include <warploom/graph.h>

#include "fusion/partition.h"
#include "plan/workspace.h"

namespace warploom::plan {

/// Everything that is known of a graph's plans, as plain values: what Graph::explain() prints and
/// Graph::to_svg() draws.
struct Explanation {
  /// A way to run a group.
  struct Candidate {
    std::string name;  ///< "cpu.gemm:tile_m=56,tile_n=64"
    double predicted_microseconds = 0;
    double measured_microseconds =
        0;  ///< at these extents, by this or an earlier process; 0: never
    int64_t workspace_bytes = 0;
    bool is_chosen = false;
  };
  struct Group {
    fusion::FusionGroup group;
    std::vector<Candidate> candidates;  ///< best first
    std::vector<std::string> refusals;  ///< "cpu.attention: rule (found ..., accepted ...)"
  };

  std::shared_ptr<const ir::FrozenGraph> graph;
  Device device;
  std::vector<graph::PlanInfo> plans;  ///< in list order
  /// Index of the plan that the rest tells of: the candidate, or the best one that may run while
  /// none is built. -1 when there is no plan; then `groups` and the rest are empty.
  int64_t plan = -1;
  std::string style;          ///< of its partition, e.g. "fully fused"
  std::vector<Group> groups;  ///< in the order in which they run
  std::vector<fusion::Alias> views;
  std::vector<fusion::FusionStop> stops;
  /// Groups that would have run together had an engine taken them; `candidates` is empty.
  std::vector<Group> refused;
  std::vector<WorkspaceRange> workspace;  ///< known once the plan is built
  int64_t workspace_bytes = 0;
};

}  // namespace warploom::plan
