#include "tour/running.h"

#include <algorithm>
#include <chrono>

namespace tour {

using warploom::error_t;
using warploom::HeurMode_t;
using warploom::Result;

warploom::graph::Graph float_graph(const std::string& name) {
  warploom::graph::Graph graph;
  graph.set_name(name)
      .set_io_data_type(warploom::DataType_t::FLOAT)
      .set_intermediate_data_type(warploom::DataType_t::FLOAT)
      .set_compute_data_type(warploom::DataType_t::FLOAT);
  return graph;
}

Result<BuiltGraph> BuiltGraph::build(warploom::Handle& handle, warploom::graph::Graph graph,
                                     Pack pack) {
  BuiltGraph built(handle, std::move(graph), std::move(pack));
  CHECK_WARPLOOM_ERROR(built.graph_.build(&handle, {HeurMode_t::A}));
  std::int64_t bytes = 0;
  CHECK_WARPLOOM_ERROR(built.graph_.get_workspace_size(bytes));
  built.workspace_.resize(static_cast<std::size_t>(bytes));
  return built;
}

error_t BuiltGraph::run() {
  return graph_.execute(handle_, pack_, workspace_.data());
}

std::string BuiltGraph::plan_name() const {
  std::string name;
  return graph_.get_plan_name(name).is_good() ? name : "";
}

float* Sequence::intermediate(std::int64_t elements) {
  return intermediates_.emplace_back(static_cast<std::size_t>(elements)).data();
}

error_t Sequence::add(warploom::graph::Graph graph, Pack pack) {
  Result<BuiltGraph> built = BuiltGraph::build(handle_, std::move(graph), std::move(pack));
  if (built.is_bad()) return built.error();
  graphs_.push_back(std::move(built).value());
  return {};
}

error_t Sequence::run() {
  for (BuiltGraph& graph : graphs_) CHECK_WARPLOOM_ERROR(graph.run());
  return {};
}

std::int64_t Sequence::intermediate_bytes() const {
  std::size_t elements = 0;
  for (const std::vector<float>& tensor : intermediates_) elements += tensor.size();
  return static_cast<std::int64_t>(elements * sizeof(float));
}

Result<std::vector<double>> time_in_turns(const std::vector<Action>& actions, double budget) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::vector<std::vector<double>> times(actions.size());
  // The round at -1 warms up.
  for (int round = -1; round < 3 || seconds() < budget; ++round) {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (!times[i].empty() && times[i].front() > budget) continue;
      const double before = seconds();
      CHECK_WARPLOOM_ERROR(actions[i]());
      const double elapsed = seconds() - before;
      if (round >= 0 || elapsed > budget) times[i].push_back(elapsed);
    }
    if (std::all_of(times.begin(), times.end(), [&](const std::vector<double>& list) {
          return !list.empty() && list.front() > budget;
        })) {
      break;
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& list : times) {
    std::sort(list.begin(), list.end());
    medians.push_back(list[list.size() / 2]);
  }
  return medians;
}

}  // namespace tour
