#include "engines/cpu/cost_model.h"

#include <algorithm>

namespace warploom::cpu {
namespace {

/// Of one core, measured on machines of the last years; what counts is their relation.
struct CoreRates {
  double gflops;                      // float multiply-adds, in micro-kernels
  double interpreted_per_nanosecond;  // elements through one instruction of a tile program
};

CoreRates rates(IsaLevel level) {
  switch (level) {
    case IsaLevel::kGeneric:
      return {20, 3};
    case IsaLevel::kAvx2:
      return {80, 8};
    case IsaLevel::kAvx512:
      return {200, 16};
    case IsaLevel::kAvx512Bf16:
      return {200, 16};
  }
  return {20, 3};
}

constexpr double kGigabytesPerSecond = 20;    // of one core, from memory
constexpr double kScalarPerNanosecond = 0.5;  // of plain loops with strides
constexpr double kStartMicroseconds = 0.5;
constexpr double kForkMicroseconds = 2;

}  // namespace

double predicted_microseconds(const Work& work, IsaLevel level, int threads) {
  const CoreRates core = rates(level);
  const double math = work.flops / (core.gflops * 1e3 * std::max(work.efficiency, 0.01)) *
                          (work.element_bytes / 4) +
                      work.scalar_operations / (kScalarPerNanosecond * 1e3) +
                      work.interpreted / (core.interpreted_per_nanosecond * 1e3);
  const double memory = work.bytes / (kGigabytesPerSecond * 1e3);
  const double alone = std::max(math, memory);
  const double shared_by =
      static_cast<double>(std::clamp<int64_t>(work.tasks, 1, std::max(threads, 1)));
  if (alone < kParallelMicroseconds || shared_by == 1) return kStartMicroseconds + alone;
  // The last round of tasks may leave threads idle.
  const double tasks = static_cast<double>(work.tasks);
  const double rounds = static_cast<double>((work.tasks + threads - 1) / threads);
  return kStartMicroseconds + kForkMicroseconds + alone * rounds / tasks;
}

}  // namespace warploom::cpu
