#pragma once
/// Case files: a graph with named extents and types, the sweeps that give the names values, data,
/// tolerances, and the fusion groups to expect. tests/conformance/README.md describes the format.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/plan_runner.h"

namespace warploom::test {

using Json = nlohmann::ordered_json;

/// A case with a value for every name: one point of its sweeps.
struct CasePoint {
  std::string name;      ///< family_case_index: letters, digits and underscores
  std::string bindings;  ///< the values of the names, for people
  bool is_long = false;
  Json graph;  ///< complete graph JSON: the form that Graph::from_json reads
  Json data;   ///< by tensor name
  Json tolerance;
  Json groups;
  std::string error;  ///< why the file cannot be read; empty if it can
};

/// Completes a graph in the short form of case files: uids, defaults, layouts to strides, numbers
/// to the bits of floats. Throws std::exception.
void complete_graph(Json& graph);

/// Every point of every case file under `folder`, in the order of their names.
std::vector<CasePoint> load_cases(const std::string& folder);
/// The points of one file's content.
std::vector<CasePoint> expand_case(const std::string& name, const Json& file);

/// A tensor of a point's graph JSON.
struct CaseTensor {
  int64_t uid = 0;
  std::string name;
  bool is_output = false;
};
/// The tensors with memory of their own: inputs without a stored value, and outputs.
std::vector<CaseTensor> memory_tensors(const CasePoint& point);

/// Values for the inputs of a point whose graph has been built; the same in every run.
ValuesByUid make_inputs(const CasePoint& point, const graph::Graph& graph);
Tolerance tolerance_for(const CasePoint& point, const graph::Graph& graph, int64_t uid);

}  // namespace warploom::test
