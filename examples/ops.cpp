/// Runs the examples of all operations, examples/ops/*.cpp, which docs/ops shows. Exits with 1
/// where one fails.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "ops/example.h"

namespace example {
namespace {

struct Listed {
  const char* name;
  void (*function)();
};

std::vector<Listed>& all() {
  static std::vector<Listed> examples;
  return examples;
}

int failures = 0;
bool writes_graphs = false;

void must(const error_object& error) {
  if (error.is_good()) return;
  std::cout << error << "\n";
  ++failures;
}

}  // namespace

bool list(const char* name, void (*function)()) {
  all().push_back({name, function});
  return true;
}

graph::Graph float_graph() {
  graph::Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  return graph;
}

TensorPtr input(graph::Graph& graph, const std::string& name, const std::vector<int64_t>& dims,
                DataType_t type) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return graph.tensor(
      graph::Tensor_attributes().set_name(name).set_dim(dims).set_stride(strides).set_data_type(
          type));
}

void run(graph::Graph& graph, std::unordered_map<TensorPtr, void*> pack) {
  if (writes_graphs) {
    std::cout << graph.to_json() << "\n";
    return;
  }
  const std::unique_ptr<Handle> handle = create_handle();
  must(graph.build(handle.get(), {HeurMode_t::A}));
  std::vector<char> workspace(
      static_cast<size_t>(std::max<int64_t>(0, graph.get_workspace_size())));
  must(graph.execute(handle.get(), pack, workspace.data()));
}

void expect(const std::vector<double>& found, const std::vector<double>& expected) {
  if (writes_graphs) return;
  bool is_same = found.size() == expected.size();
  for (size_t i = 0; is_same && i < found.size(); ++i)
    is_same = std::fabs(found[i] - expected[i]) <= 1e-5 * std::fabs(expected[i]);
  if (is_same) return;
  ++failures;
  std::cout << "found";
  for (double value : found) std::cout << " " << value;
  std::cout << ", expected";
  for (double value : expected) std::cout << " " << value;
  std::cout << "\n";
}

}  // namespace example

int main(int count, char** arguments) {
  using namespace example;
  writes_graphs = count > 1 && std::string(arguments[1]) == "--graphs";
  const char* separator = "{";
  for (const auto& [name, function] : all()) {
    if (writes_graphs) std::cout << std::exchange(separator, ",") << "\"" << name << "\": ";
    const int before = failures;
    function();
    if (!writes_graphs)
      std::cout << name << (failures == before ? ": as expected\n" : ": FAILED\n");
  }
  if (writes_graphs) std::cout << "}\n";
  return failures == 0 && !all().empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
