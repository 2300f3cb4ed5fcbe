#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <warploom/graph.h>

#include "harness/plan_runner.h"
#include "plan/tuning_memory.h"

namespace warploom::test {

/// Does a task and returns the exit status:
///
///   tune N      builds every plan of "test.kept" over N floats, measures, prints their names, the
///               fastest first
///   choose N    builds the first plan of mode B of "test.kept", runs it, prints its name
///   build N     builds every plan of churn_graph(N)
///   record N    keeps recorded(N, 0), recorded(N, 1), ... and prints "recorded N I" for each
///   churn SEED  for a while, in an order that the seed gives: every plan of the graphs of
///               churn_graph() and of "test.kept" built by mode B and measured, results checked;
///               prints "tuned GRAPH OFFER" for each time that was kept
///
/// It is not 0 where a result is wrong.
int do_task(const std::string& task);

/// A made-up time.
struct Recorded {
  plan::TuningProblem problem;
  std::string offer;
  double microseconds = 0;
};
inline constexpr int64_t kRecords = 300;
Recorded recorded(int64_t number, int64_t i);

/// matmul, bias and ReLU, some graphs of one signature among them.
struct ChurnGraph {
  graph::Graph graph;
  Inputs inputs;
  graph::TensorPtr y;
  Values expected;
};
inline constexpr int kChurnGraphs = 6;
ChurnGraph churn_graph(int number);

}  // namespace warploom::test
