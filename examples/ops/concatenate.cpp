#include "ops/example.h"

// Two matrices side by side.
EXAMPLE(concatenate) {
  graph::Graph graph = float_graph();
  TensorPtr a = input(graph, "a", {2, 2}), b = input(graph, "b", {2, 1});
  TensorPtr y = graph.concatenate({a, b}, graph::Concatenate_attributes().set_axis(1));
  y->set_output(true);

  std::vector<float> a_data{1, 2, 3, 4}, b_data{10, 20}, y_data(6);
  run(graph, {{a, a_data.data()}, {b, b_data.data()}, {y, y_data.data()}});
  expect(y_data, {1, 2, 10, 3, 4, 20});
}
