#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warploom/device.h>
#include <warploom/fusion_group.h>

#include "base/file_store.h"
#include "plan/tuning_table.h"

namespace warploom::plan {

/// A group as its measured times are filed.
struct TuningProblem {
  std::string key;  ///< what times must have in common: signature, device, library version
  Extents extents;
};

TuningProblem tuning_problem(const fusion::FusionGroup& group, const Device& device);

/// What the offers of a group are expected to take.
struct ExpectedTimes {
  std::vector<double> microseconds;  ///< by offer
  /// How measured times compare to predicted ones here; 0 when none was measured.
  double measured_per_predicted = 0;
};

/// Measured times, of this process and of those before that had the same store. Safe for concurrent
/// use. Memory is bounded: problems that were not asked for lately are forgotten, and read again
/// when they are.
class TuningMemory {
 public:
  explicit TuningMemory(base::FileStore& store) : store_(store) {}

  /// Measured just now, by problem key.
  void record(const std::map<std::string, TuningTable>& measured);
  /// At these very extents; 0 when it was never measured.
  double measured(const TuningProblem& problem, std::string_view offer) const;

  struct Prediction {
    std::string_view offer;
    double microseconds = 0;
  };
  /// What is known of each offer, the first that applies: its measured time at these extents; its
  /// measured time at the nearest extents (least sum of |log2 of ratios|, no ratio above 4), times
  /// predicted(here) / predicted(there); its prediction times the geometric mean of what the offers
  /// above took, compared to their predictions. So measured and predicted offers compare.
  ExpectedTimes expect(const TuningProblem& problem, std::span<const Prediction> predictions) const;

 private:
  struct Problem {
    TuningTable table;
    uint64_t last_use = 0;
  };
  /// Calls `use` with the table, under the lock.
  template <class Use>
  void with_table(const std::string& key, Use&& use) const;
  /// Until few enough are left. Under the lock.
  void forget_oldest() const;

  base::FileStore& store_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Problem, std::less<>> problems_;
  mutable size_t size_ = 0;  ///< of all tables
  mutable uint64_t uses_ = 0;
};

}  // namespace warploom::plan
