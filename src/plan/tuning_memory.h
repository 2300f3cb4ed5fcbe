#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <warploom/device.h>
#include <warploom/fusion_group.h>

namespace warploom::plan {

/// Times measured in this process, by problem and by the way it was run. Safe for concurrent use.
class TuningMemory {
 public:
  /// Replaces an earlier time.
  void record(std::string_view problem, std::string_view offer, double microseconds);
  /// 0 when it was never measured.
  double find(std::string_view problem, std::string_view offer) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, double> times_;
};

/// What a measured time holds for: a group's signature and extents, on a device.
std::string problem_key(const fusion::FusionGroup& group, const Device& device);

}  // namespace warploom::plan
