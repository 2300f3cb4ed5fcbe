#include "ops/example.h"

// The sum of each row.
EXAMPLE(reduction) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {2, 3});
  TensorPtr y = graph.reduction(x, graph::Reduction_attributes().set_mode(ReductionMode_t::ADD));
  y->set_output(true).set_dim({2, 1});

  std::vector<float> x_data{1, 2, 3, 4, 5, 6}, y_data(2);
  run(graph, {{x, x_data.data()}, {y, y_data.data()}});
  expect(y_data, {6, 15});
}
