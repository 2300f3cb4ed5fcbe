/// Section 2: every way the library knows to run one graph.
#include <fmt/format.h>

#include <algorithm>

#include "tour/independent.h"
#include "tour/layer.h"
#include "tour/tour.h"

namespace tour {

using warploom::BuildPlanPolicy_t;
using warploom::error_t;
using warploom::HeurMode_t;
using warploom::Result;

error_t try_candidates(Tour& tour) {
  tour.begin(2, "All candidates, built and timed");
  tour.say(
      "A plan is one way to run a graph: which engine, with which settings. Mode A lists what the "
      "cost model likes, best first; B adds what was measured before; FALLBACK the engines that "
      "take anything. Here all of them are built, checked and timed in turns.");
  Layer layer{tour.is_quick() ? 1 : 2, 64, 56, 56, 128, {}, {}, {}};
  layer.x = random_numbers(layer.images * 64 * 56 * 56, 1);
  layer.w = random_numbers(128 * 9 * 64, 2);
  layer.bias = random_numbers(128, 3);
  std::vector<float> y(static_cast<std::size_t>(layer.outputs()));
  auto [graph, pack] = describe(layer, y.data());

  // What Graph::build() does in one call, step by step.
  warploom::handle_t handle = &tour.handle();
  CHECK_WARPLOOM_ERROR(graph.validate());
  CHECK_WARPLOOM_ERROR(graph.build_operation_graph(handle));
  CHECK_WARPLOOM_ERROR(
      graph.create_execution_plans({HeurMode_t::A, HeurMode_t::B, HeurMode_t::FALLBACK}));
  CHECK_WARPLOOM_ERROR(graph.check_support(handle));
  CHECK_WARPLOOM_ERROR(graph.build_plans(handle, BuildPlanPolicy_t::ALL, true));
  std::vector<std::byte> workspace(static_cast<std::size_t>(graph.get_autotune_workspace_size()));

  const std::vector<double> wanted = compute_in_double(layer);
  Check worst{"every candidate's result", 0, 1e-5, 0};
  std::vector<Candidate> candidates;
  std::vector<Action> actions;
  const std::vector<warploom::graph::PlanInfo> plans = graph.plans();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].is_built) continue;
    const auto index = static_cast<std::int64_t>(i);
    const auto run = [&graph = graph, &pack = pack, &workspace, handle, index] {
      return graph.execute_plan_at_index(handle, pack, workspace.data(), index);
    };
    std::fill(y.begin(), y.end(), -1.0f);
    CHECK_WARPLOOM_ERROR(run());
    const Check check =
        compare(plans[i].name, y.data(), wanted.data(), layer.outputs(), worst.tolerance);
    worst.error = std::max(worst.error, check.error);
    worst.compared += check.compared;
    if (!check.passed()) tour.check(check);
    actions.push_back(run);
    candidates.push_back({plans[i].name, 0, plans[i].predicted_microseconds * 1e-6,
                          layer.operations(), plans[i].workspace_bytes, candidates.empty()});
  }
  tour.check(worst);

  Result<std::vector<double>> seconds = time_in_turns(actions, tour.is_quick() ? 0.3 : 2.0);
  if (seconds.is_bad()) return seconds.error();
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].seconds = seconds.value()[i];
  const Candidate first_choice = candidates.front();
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  tour.candidates(candidates);
  tour.conclude(fmt::format(
      "the fastest of {} is {:.2f} times as fast as the heuristic's first choice and {:.0f} times "
      "as fast as the slowest",
      candidates.size(), first_choice.seconds / candidates.front().seconds,
      candidates.back().seconds / candidates.front().seconds));

  // The library measures by itself, too: the fastest plan comes first then, and is what execute
  // runs.
  CHECK_WARPLOOM_ERROR(graph.autotune(handle, pack, workspace.data()));
  std::string tuned;
  CHECK_WARPLOOM_ERROR(graph.get_plan_name(tuned));
  std::fill(y.begin(), y.end(), -1.0f);
  CHECK_WARPLOOM_ERROR(graph.execute(handle, pack, workspace.data()));
  tour.check(compare("the result after autotune", y.data(), wanted.data(), layer.outputs(),
                     worst.tolerance));
  tour.conclude("Graph::autotune chose " + tuned);
  return {};
}

}  // namespace tour
