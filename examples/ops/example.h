#pragma once
/// What the examples of operations share. Each is a function that describes a graph, runs it on the
/// CPU, and compares the results with what was computed by hand.
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include <warploom/warploom.h>

namespace example {

using namespace warploom;
using graph::TensorPtr;

/// A graph whose tensors and arithmetic are FLOAT where nothing else is said.
graph::Graph float_graph();

/// An input of these dims, row-major.
TensorPtr input(graph::Graph& graph, const std::string& name, const std::vector<int64_t>& dims,
                DataType_t type = DataType_t::NOT_SET);

/// Builds the graph and runs it: `pack` has the memory of every input and output.
void run(graph::Graph& graph, std::unordered_map<TensorPtr, void*> pack);

/// The example has failed unless each value is what is expected, within 1 part in 10^5.
void expect(const std::vector<double>& found, const std::vector<double>& expected);
template <class T>
void expect(const std::vector<T>& found, const std::vector<double>& expected) {
  expect(std::vector<double>(found.begin(), found.end()), expected);
}

/// Puts a function on the list that the program runs. Returns true.
bool list(const char* name, void (*function)());

}  // namespace example

#define EXAMPLE(name)                                       \
  namespace example {                                       \
  static void name();                                       \
  static const bool is_##name##_listed = list(#name, name); \
  }                                                         \
  static void example::name()
