#pragma once
/// Runs plans on poisoned memory: inputs whose gaps are 0xFF, outputs and workspaces that are 0xFF
/// throughout, guard bytes around everything, and the workspace of exactly the size asked for.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <warploom/graph.h>

#include "harness/tensor_memory.h"

namespace warploom::test {

/// |got - expected| <= absolute + relative |expected|, NaN only where NaN is expected. Absolute
/// grows with the greatest finite |expected| of the tensor: errors of sums follow their terms.
struct Tolerance {
  double relative = 0;
  double absolute = 0;        ///< per unit of the greatest magnitude
  double absolute_floor = 0;  ///< at any magnitude
  static Tolerance exact() { return {}; }
  /// What a sum of some hundred terms, computed in float (double: for DOUBLE) and stored as `type`,
  /// may differ by.
  static Tolerance of(DataType_t type);
};

/// The first mismatch in words, "" if there is none.
std::string compare(const Values& got, const Values& expected, Tolerance tolerance);

using ValuesByUid = std::map<int64_t, Values>;

struct RunOptions {
  /// Every pointer is this many elements past a multiple of 64 bytes.
  int64_t misaligned_elements = 0;
};

struct PlanRun {
  error_t error;
  ValuesByUid outputs;
  std::string damage;  ///< memory that was written and should not have been; "" if none
};

/// Runs one built plan. Whatever execute asks for and is not in `inputs` is an output; so is
/// everything in `outputs`.
PlanRun run_plan(const graph::Graph& graph, handle_t handle, int64_t plan,
                 const ValuesByUid& inputs, const std::vector<int64_t>& outputs,
                 const RunOptions& options = {});

/// Validates and freezes `graph`, lists the plans of modes A, B and FALLBACK and of every engine by
/// name (`reference` among them), and builds them all.
error_t build_every_plan(graph::Graph& graph, handle_t handle);

/// The handle of the CPU that all tests share.
handle_t cpu();

struct Expected {
  graph::TensorPtr tensor;
  Values values;
  /// Tolerance::of the tensor's data type, unless given.
  std::optional<Tolerance> tolerance{};
};
using Inputs = std::vector<std::pair<graph::TensorPtr, Values>>;

/// Fails the test where a plan of `graph` does not give what is expected, aligned and misaligned.
void expect_every_plan(graph::Graph& graph, const Inputs& inputs,
                       const std::vector<Expected>& expected);
/// The same for the heuristic's first choice alone: for sizes that the slow engines take long for.
void expect_first_plan(graph::Graph& graph, const Inputs& inputs,
                       const std::vector<Expected>& expected);

}  // namespace warploom::test
