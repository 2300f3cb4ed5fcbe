#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <warploom/error.h>

#include "plan/plan.h"
#include "plan/ranking.h"
#include "plan/tuning_memory.h"

namespace warploom::plan {

/// Medians over the rounds in which a plan was measured.
struct Measurement {
  double microseconds = 0;
  std::vector<double> step_microseconds;
  error_t failure;  ///< why it was given up; then there are no times
};

/// Runs each plan once to warm up, then in interleaved rounds, so that what else the machine does
/// meets all of them, until `budget` is spent; every plan is measured at least once, one that is
/// far behind not much more often. Overwrites outputs and workspace.
std::vector<Measurement> measure(std::span<const Plan* const> plans, void* stream,
                                 std::span<void* const> pack, void* workspace,
                                 std::chrono::nanoseconds budget);

/// What the steps of plans took, as TuningMemory::record() takes it. Plans share offers: the least
/// disturbed counts.
class StepTimes {
 public:
  StepTimes(const Device& device, const std::shared_ptr<const ir::FrozenGraph>& graph)
      : device_(device), graph_(graph) {}
  /// `microseconds`: by step.
  void add(const Selection& selection, std::span<const double> microseconds);
  const std::map<std::string, TuningTable>& tables() const { return tables_; }

 private:
  const Device& device_;
  const std::shared_ptr<const ir::FrozenGraph>& graph_;
  std::map<const GroupSurvey*, TuningProblem> problems_;
  std::map<std::string, TuningTable> tables_;  ///< by problem key
};

}  // namespace warploom::plan
