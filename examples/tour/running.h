#pragma once
/// Built graphs with their data, and the time they take.
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include <warploom/warploom.h>

namespace tour {

/// Where each tensor's data lies.
using Pack = std::unordered_map<warploom::graph::TensorPtr, void*>;

/// An empty graph whose tensors and arithmetic are FLOAT where nothing else is said.
warploom::graph::Graph float_graph(const std::string& name);

/// A graph that was built for a device, with its data and its workspace: run() computes it.
class BuiltGraph {
 public:
  /// Builds the plan that the heuristic likes best.
  static warploom::Result<BuiltGraph> build(warploom::Handle& handle, warploom::graph::Graph graph,
                                            Pack pack);

  warploom::error_t run();
  const warploom::graph::Graph& graph() const { return graph_; }
  /// Kernels are the components of a plan's name, e.g. "cpu.gemm:tile_m=60|cpu.map".
  std::string plan_name() const;
  std::int64_t workspace_bytes() const { return static_cast<std::int64_t>(workspace_.size()); }

 private:
  BuiltGraph(warploom::Handle& handle, warploom::graph::Graph graph, Pack pack)
      : handle_(&handle), graph_(std::move(graph)), pack_(std::move(pack)) {}

  warploom::Handle* handle_;
  warploom::graph::Graph graph_;
  Pack pack_;
  std::vector<std::byte> workspace_;
};

/// Graphs that run one after the other: the work of a fused graph, one operation at a time.
class Sequence {
 public:
  explicit Sequence(warploom::Handle& handle) : handle_(handle) {}

  /// Memory for a tensor that one graph writes and a later one reads.
  float* intermediate(std::int64_t elements);
  warploom::error_t add(warploom::graph::Graph graph, Pack pack);
  warploom::error_t run();

  std::int64_t size() const { return static_cast<std::int64_t>(graphs_.size()); }
  /// Bytes of all intermediates.
  std::int64_t intermediate_bytes() const;
  std::vector<BuiltGraph>& graphs() { return graphs_; }

 private:
  warploom::Handle& handle_;
  std::vector<BuiltGraph> graphs_;
  std::vector<std::vector<float>> intermediates_;
};

using Action = std::function<warploom::error_t()>;

/// Median seconds of each action. They take turns, so that whatever else the machine does disturbs
/// them alike; rounds go on until `budget` seconds are spent, three of them at least. An action
/// that alone takes longer than the budget runs once.
warploom::Result<std::vector<double>> time_in_turns(const std::vector<Action>& actions,
                                                    double budget);

}  // namespace tour
