#include "plan/autotune.h"

#include <algorithm>

namespace warploom::plan {
namespace {

using Clock = std::chrono::steady_clock;

/// More than this many rounds no longer change a median.
constexpr int kMostRounds = 100;

struct Samples {
  std::vector<double> total;
  std::vector<std::vector<double>> steps;
  error_t failure;
};

double median(std::vector<double>& samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

void run_once(const Plan& plan, void* stream, std::span<void* const> pack, void* workspace,
              Samples& samples) {
  Clock::time_point before = Clock::now();
  const Clock::time_point start = before;
  for (size_t i = 0; i < plan.steps().size(); ++i) {
    samples.failure = plan.execute_step(i, stream, pack, workspace);
    if (samples.failure.is_bad()) return;
    const Clock::time_point after = Clock::now();
    samples.steps[i].push_back(std::chrono::duration<double, std::micro>(after - before).count());
    before = after;
  }
  samples.total.push_back(std::chrono::duration<double, std::micro>(before - start).count());
}

}  // namespace

std::vector<Measurement> measure(std::span<const Plan* const> plans, void* stream,
                                 std::span<void* const> pack, void* workspace,
                                 std::chrono::nanoseconds budget) {
  const Clock::time_point end = Clock::now() + budget;
  std::vector<Samples> samples(plans.size());
  for (size_t i = 0; i < plans.size(); ++i) {
    samples[i].steps.resize(plans[i]->steps().size());
    run_once(*plans[i], stream, pack, workspace, samples[i]);
  }
  // What warmed up does not count.
  for (Samples& plan : samples) {
    plan.total.clear();
    for (auto& step : plan.steps) step.clear();
  }
  for (int round = 0; round < kMostRounds && (round == 0 || Clock::now() < end); ++round)
    for (size_t i = 0; i < plans.size(); ++i) {
      if (round > 0 && Clock::now() >= end) break;
      if (samples[i].failure.is_good()) run_once(*plans[i], stream, pack, workspace, samples[i]);
    }

  std::vector<Measurement> measurements;
  for (Samples& plan : samples) {
    Measurement& measurement = measurements.emplace_back();
    measurement.failure = std::move(plan.failure);
    if (measurement.failure.is_bad()) continue;
    measurement.microseconds = median(plan.total);
    for (auto& step : plan.steps) measurement.step_microseconds.push_back(median(step));
  }
  return measurements;
}

}  // namespace warploom::plan
