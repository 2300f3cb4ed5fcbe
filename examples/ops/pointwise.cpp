#include "ops/example.h"

// One bias for each column, added to every row.
EXAMPLE(pointwise) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {2, 3}), bias = input(graph, "bias", {1, 3});
  TensorPtr y =
      graph.pointwise(x, bias, graph::Pointwise_attributes().set_mode(PointwiseMode_t::ADD));
  y->set_output(true);

  std::vector<float> x_data{1, 2, 3, 4, 5, 6}, bias_data{10, 20, 30}, y_data(6);
  run(graph, {{x, x_data.data()}, {bias, bias_data.data()}, {y, y_data.data()}});
  expect(y_data, {11, 22, 33, 14, 25, 36});
}
