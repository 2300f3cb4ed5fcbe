#include <fmt/format.h>

#include <algorithm>

#include "base/file_store.h"
#include "tools/commands.h"
#include "tools/progress.h"

namespace warploom::tools {
namespace {

using graph::PlanInfo;

/// `first`: what the plan takes that would have run untuned.
void print_table(const std::vector<PlanInfo>& plans, double first) {
  fmt::print("{:>11}  {:>12}  {:>8}  {}\n", "measured us", "predicted us", "of first", "plan");
  for (const PlanInfo& plan : plans) {
    if (plan.measured_microseconds > 0)
      fmt::print("{:>11.2f}  {:>12.2f}  {:>7.0f}%  {}\n", plan.measured_microseconds,
                 plan.predicted_microseconds, 100 * plan.measured_microseconds / first, plan.name);
    else
      fmt::print("{:>11}  {:>12.2f}  {:>8}  {} ({})\n", "-", plan.predicted_microseconds, "-",
                 plan.name, plan.barred.empty() ? "not measured" : plan.barred);
  }
}

error_t tune_graph(const TuneOptions& options) {
  Result<Workload> loaded = Workload::load(options.workload);
  if (loaded.is_bad()) return loaded.error();
  Workload& workload = loaded.value();
  CHECK_WARPLOOM_ERROR(workload.bind(options.workload.inputs));
  workload.fill_with_random_data(options.seed);
  std::string first_name;
  {
    Progress progress("tune");
    progress.step("building every plan");
    CHECK_WARPLOOM_ERROR(
        workload.graph().build_plans(&workload.handle(), BuildPlanPolicy_t::ALL, true));
    CHECK_WARPLOOM_ERROR(workload.graph().get_plan_name(first_name));
    progress.step(fmt::format("timing {} plans", workload.graph().get_execution_plan_count()));
    CHECK_WARPLOOM_ERROR(workload.autotune(options.budget));
  }
  const std::vector<PlanInfo> plans = workload.graph().plans();
  const PlanInfo& best = plans.front();
  const auto first = std::find_if(plans.begin(), plans.end(),
                                  [&](const PlanInfo& plan) { return plan.name == first_name; });
  const double first_time = first == plans.end() || first->measured_microseconds <= 0
                                ? best.measured_microseconds
                                : first->measured_microseconds;
  print_table(plans, first_time);
  if (best.name == first_name)
    fmt::print("\nThe first choice is the fastest.\n");
  else
    fmt::print("\nThe first choice was {}; the fastest is {:.2f} times as fast.\n", first_name,
               first_time / best.measured_microseconds);

  const base::FileStore& store = base::process_store();
  if (const error_t error = store.check_writable(); error.is_bad())
    return {error.code, fmt::format("the times are not kept: {}", error.err_msg)};
  fmt::print("Mode B finds the times in {}\n", store.settings().folder.string());
  return {};
}

}  // namespace

int tune(const TuneOptions& options) {
  return report(tune_graph(options));
}

}  // namespace warploom::tools
