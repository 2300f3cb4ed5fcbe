#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "engines/cpu/threads/thread_pool.h"

namespace warploom::cpu {
namespace {

/// A positive number in an environment variable, else 0. OMP_NUM_THREADS may be a list ("4,2").
int number_from_environment(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  const long value = std::strtol(text, nullptr, 10);
  return value > 0 && value <= 4096 ? static_cast<int>(value) : 0;
}

int affinity_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// Processors that the cgroup's quota is worth, rounded up; 0 without a quota.
int cgroup_count() {
  double quota = -1.0, period = -1.0;
  if (std::FILE* file = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {       // version 2
    if (std::fscanf(file, "%lf %lf", &quota, &period) != 2) quota = -1.0;  // "max 100000"
    std::fclose(file);
  } else {
    const auto read = [](const char* path) {
      double value = -1.0;
      if (std::FILE* one = std::fopen(path, "r")) {
        if (std::fscanf(one, "%lf", &value) != 1) value = -1.0;
        std::fclose(one);
      }
      return value;
    };
    quota = read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    period = read("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  }
  if (quota <= 0.0 || period <= 0.0) return 0;
  return std::max(1, static_cast<int>(quota / period + 0.999));
}

}  // namespace

int default_thread_count() {
  if (const int count = number_from_environment("WARPLOOM_NUM_THREADS"); count > 0) return count;
  if (const int count = number_from_environment("OMP_NUM_THREADS"); count > 0) return count;
  // Read once: opening the files takes as long as freezing a graph.
  static const int quota = cgroup_count();
  const int allowed = std::max(1, affinity_count());
  return quota > 0 ? std::min(quota, allowed) : allowed;
}

}  // namespace warploom::cpu
