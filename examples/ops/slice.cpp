#include "ops/example.h"

// Every second column, from the second on.
EXAMPLE(slice) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {2, 4});
  TensorPtr y =
      graph.slice(x, graph::Slice_attributes().set_slices({{0, 2}, {1, 4}}).set_strides({1, 2}));
  y->set_output(true);

  std::vector<float> x_data{1, 2, 3, 4, 5, 6, 7, 8}, y_data(4);
  run(graph, {{x, x_data.data()}, {y, y_data.data()}});
  expect(y_data, {2, 4, 6, 8});
}
