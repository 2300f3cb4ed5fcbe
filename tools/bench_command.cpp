#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tools/commands.h"
#include "tools/progress.h"
#include "tools/work.h"

namespace warploom::tools {
namespace {

struct Measurement {
  int64_t index;
  graph::PlanInfo info;
  std::vector<double> seconds;
  double median() const {
    std::vector<double> sorted = seconds;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2),
                     sorted.end());
    return sorted[sorted.size() / 2];
  }
};

/// Builds the plans that can be built.
Result<std::vector<Measurement>> build(Workload& workload, const std::string& plan,
                                       Progress& progress) {
  std::vector<Measurement> measurements;
  if (!plan.empty()) {
    Result<int64_t> index = workload.build_plan(plan);
    if (index.is_bad()) return index.error();
    measurements.push_back(
        {index.value(), workload.graph().plans()[static_cast<size_t>(index.value())], {}});
    return measurements;
  }
  progress.step("building every plan");
  CHECK_WARPLOOM_ERROR(
      workload.graph().build_plans(&workload.handle(), BuildPlanPolicy_t::ALL, true));
  const std::vector<graph::PlanInfo> plans = workload.graph().plans();
  for (size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].is_built && plans[i].barred.empty()) {
      measurements.push_back({static_cast<int64_t>(i), plans[i], {}});
    }
  }
  return measurements;
}

/// Rounds over all plans, so that whatever disturbs the machine disturbs them alike. A plan whose
/// first run took more than its share of the budget is not run again.
error_t measure(Workload& workload, std::vector<Measurement>& measurements, double budget,
                Progress& progress) {
  using Clock = std::chrono::steady_clock;
  int64_t workspace_bytes = 0;
  for (const Measurement& measurement : measurements) {
    int64_t bytes = 0;
    CHECK_WARPLOOM_ERROR(
        workload.graph().get_workspace_size_plan_at_index(measurement.index, bytes));
    workspace_bytes = std::max(workspace_bytes, bytes);
  }
  const AlignedMemory workspace(workspace_bytes);
  const double share = budget / static_cast<double>(measurements.size());
  const auto start = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  bool is_first_round = true, goes_on = true;
  while (goes_on) {
    goes_on = false;
    for (Measurement& measurement : measurements) {
      if (!is_first_round && measurement.seconds.front() > share / 3) continue;
      progress.step("timing " + measurement.info.name);
      const double before = spent();
      CHECK_WARPLOOM_ERROR(workload.execute(measurement.index, workspace.data()));
      measurement.seconds.push_back(spent() - before);
      goes_on = true;
    }
    is_first_round = false;
    goes_on = goes_on && spent() < budget;
  }
  // The first run finds cold caches.
  for (Measurement& measurement : measurements) {
    if (measurement.seconds.size() > 1) measurement.seconds.erase(measurement.seconds.begin());
  }
  std::stable_sort(
      measurements.begin(), measurements.end(),
      [](const Measurement& a, const Measurement& b) { return a.median() < b.median(); });
  return {};
}

void print_table(const std::vector<Measurement>& measurements, const Work& work) {
  const bool has_operations = work.operations > 0;
  fmt::print("{:>5}  {:>11}  {:>11}  {:>9}  {:>11}  {:>5}  {}\n", "index", "median ms", "predicted",
             has_operations ? "GFLOP/s" : "GB/s", "workspace", "runs", "plan");
  for (const Measurement& measurement : measurements) {
    const double rate = (has_operations ? work.operations : work.bytes) / measurement.median();
    fmt::print("{:>5}  {:>11.4f}  {:>11.4f}  {:>9.1f}  {:>11}  {:>5}  {}\n", measurement.index,
               measurement.median() * 1e3, measurement.info.predicted_microseconds * 1e-3,
               rate * 1e-9, measurement.info.workspace_bytes, measurement.seconds.size(),
               measurement.info.name);
  }
}

void print_json(const std::vector<Measurement>& measurements, const Work& work,
                const BenchOptions& options, const Device& device) {
  nlohmann::ordered_json result{{"graph", options.workload.graph.string()},
                                {"device",
                                 {{"name", device.name},
                                  {"architecture", device.architecture},
                                  {"parallelism", device.parallelism}}},
                                {"operations", work.operations},
                                {"bytes", work.bytes},
                                {"plans", nlohmann::json::array()}};
  for (const Measurement& measurement : measurements) {
    result["plans"].push_back(
        nlohmann::ordered_json{{"name", measurement.info.name},
                               {"index", measurement.index},
                               {"median_microseconds", measurement.median() * 1e6},
                               {"predicted_microseconds", measurement.info.predicted_microseconds},
                               {"gflop_per_second", work.operations / measurement.median() * 1e-9},
                               {"gigabyte_per_second", work.bytes / measurement.median() * 1e-9},
                               {"workspace_bytes", measurement.info.workspace_bytes},
                               {"runs", measurement.seconds.size()}});
  }
  fmt::print("{}\n", result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

error_t bench_graph(const BenchOptions& options) {
  Result<Workload> loaded = Workload::load(options.workload);
  if (loaded.is_bad()) return loaded.error();
  Workload& workload = loaded.value();
  CHECK_WARPLOOM_ERROR(workload.bind(options.workload.inputs));
  workload.fill_with_random_data(options.seed);
  std::vector<Measurement> measurements;
  {
    Progress progress("preparing");
    Result<std::vector<Measurement>> built = build(workload, options.plan, progress);
    if (built.is_bad()) return built.error();
    measurements = std::move(built).value();
    CHECK_WARPLOOM_ERROR(measure(workload, measurements, options.seconds, progress));
  }
  const Work work = work_of(workload.frozen());
  if (options.is_json) {
    print_json(measurements, work, options, workload.handle().device());
  } else {
    print_table(measurements, work);
  }
  return {};
}

}  // namespace

int bench(const BenchOptions& options) {
  return report(bench_graph(options));
}

}  // namespace warploom::tools
