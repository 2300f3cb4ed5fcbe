#include "plan/autotune.h"

#include <algorithm>
#include <limits>

#include "plan/fit.h"

namespace warploom::plan {
namespace {

using Clock = std::chrono::steady_clock;

/// More than this many rounds no longer change a median.
constexpr size_t kMostRounds = 100;
/// A plan this many times slower than the fastest needs no more looks than these, ...
constexpr double kHopeless = 4;
constexpr size_t kLooks = 3;
/// ... and no second one where a run takes longer than this (in microseconds): little disturbs it
/// as much. Nor is such a first run ruined by what warms up in it: it counts.
constexpr double kLongRun = 20000;

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
  double fastest = std::numeric_limits<double>::max();
  for (Samples& plan : samples) {
    if (plan.total.empty() || plan.total[0] > kLongRun) continue;
    plan.total.clear();
    for (auto& step : plan.steps) step.clear();
  }
  for (size_t round = 0; round < kMostRounds && (round == 0 || Clock::now() < end); ++round)
    for (size_t i = 0; i < plans.size(); ++i) {
      Samples& plan = samples[i];
      const bool is_measured = !plan.total.empty();
      const double best = is_measured ? std::ranges::min(plan.total) : 0;
      const bool is_hopeless =
          best > kHopeless * fastest && (plan.total.size() >= kLooks || best > kLongRun);
      if (is_measured && (is_hopeless || Clock::now() >= end)) continue;
      if (plan.failure.is_bad()) continue;
      run_once(*plans[i], stream, pack, workspace, plan);
      if (plan.failure.is_good()) fastest = std::min(fastest, plan.total.back());
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

void StepTimes::add(const Selection& selection, std::span<const double> microseconds) {
  const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  for (size_t step = 0; step < selection.choices.size(); ++step) {
    // The clock may not see a step that has nothing to do.
    if (microseconds[step] <= 0) continue;
    const GroupSurvey& survey = *selection.partition->groups[step].survey;
    auto problem = problems_.find(&survey);
    if (problem == problems_.end())
      problem = problems_.emplace(&survey, tuning_problem(group_on(survey, graph_), device_)).first;
    const auto& [key, extents] = problem->second;
    const Offer& offer = *selection.choices[step];
    const MeasuredTime time{microseconds[step], offer.candidate.predicted_microseconds, now};
    const auto [place, is_new] = tables_[key][extents].try_emplace(offer.name, time);
    if (!is_new && time.measured_microseconds < place->second.measured_microseconds)
      place->second = time;
  }
}

}  // namespace warploom::plan
