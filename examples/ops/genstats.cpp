#include "ops/example.h"

// Sums of two channels.
EXAMPLE(genstats) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {1, 2, 1, 2});
  auto [sum, square_sum] = graph.genstats(x, graph::Genstats_attributes());
  for (TensorPtr result : {sum, square_sum}) result->set_output(true);

  std::vector<float> x_data{1, 3, 2, 4}, sum_data(2), square_sum_data(2);
  run(graph, {{x, x_data.data()}, {sum, sum_data.data()}, {square_sum, square_sum_data.data()}});
  expect(sum_data, {1 + 3, 2 + 4});
  expect(square_sum_data, {1 + 9, 4 + 16});
}
