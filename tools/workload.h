#pragma once
/// A graph file made ready to run: the graph with its plans, and memory for what it reads and
/// writes.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include <warploom/graph.h>

#include "tools/tensor_memory.h"

namespace warploom::tools {

/// What the subcommands that run a graph are given.
struct WorkloadOptions {
  std::filesystem::path graph;
  std::vector<std::string> inputs;  ///< "TENSOR=FILE", the tensor by name or uid
  std::string device;               ///< "", "cpu" or "cuda"
  std::vector<HeurMode_t> modes{HeurMode_t::A, HeurMode_t::B, HeurMode_t::FALLBACK};
};

class Workload {
 public:
  /// Reads, validates and freezes the graph, then lists the plans of the modes.
  static Result<Workload> load(const WorkloadOptions& options);

  graph::Graph& graph() { return graph_; }
  const ir::FrozenGraph& frozen() const { return *frozen_; }
  Handle& handle() const { return *handle_; }

  /// Makes `plan`, an index in the list or a name, the candidate and returns its index. An empty
  /// one stands for the best that can be built.
  Result<int64_t> build_plan(const std::string& plan);
  /// The plan of the reference engine.
  Result<int64_t> build_reference_plan();

  /// Allocates every tensor and fills those named in `inputs`.
  error_t bind(const std::vector<std::string>& inputs);
  /// INVALID_VALUE lists the inputs that bind() filled with nothing.
  error_t require_all_inputs() const;
  /// Fills the inputs that bind() did not, from the seed.
  void fill_with_random_data(uint64_t seed);

  /// Runs one plan on poisoned outputs and a poisoned workspace.
  error_t execute(int64_t plan);
  /// Runs one plan, touching nothing before: for timing. `workspace` as large as the plan asks.
  error_t execute(int64_t plan, void* workspace);

  /// Measures every built plan.
  error_t autotune(std::chrono::milliseconds budget);

  std::vector<TensorMemory*> outputs();
  /// The input or output that the user names; the error lists those there are.
  Result<TensorMemory*> find(const std::string& name_or_uid, bool is_output);

 private:
  struct Binding {
    TensorMemory memory;
    bool is_output;
    bool is_filled;
  };

  Workload() = default;

  std::unique_ptr<Handle> handle_;
  graph::Graph graph_;
  std::shared_ptr<const ir::FrozenGraph> frozen_;
  std::vector<Binding> bindings_;
  std::unordered_map<int64_t, void*> pack_;
};

Result<std::unique_ptr<Handle>> create_handle(const std::string& device);

}  // namespace warploom::tools
