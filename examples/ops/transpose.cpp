#include "ops/example.h"

// Rows become columns in memory too, since the result has row-major strides of its own.
EXAMPLE(transpose) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {2, 3});
  TensorPtr y = graph.transpose(x, graph::Transpose_attributes().set_permutation({1, 0}));
  y->set_output(true).set_stride({2, 1});

  std::vector<float> x_data{1, 2, 3, 4, 5, 6}, y_data(6);
  run(graph, {{x, x_data.data()}, {y, y_data.data()}});
  expect(y_data, {1, 4, 2, 5, 3, 6});
}
