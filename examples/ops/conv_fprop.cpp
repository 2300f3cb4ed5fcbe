#include "ops/example.h"

// Adds to each pixel the one below it to the right.
EXAMPLE(conv_fprop) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {1, 1, 3, 3}), w = input(graph, "w", {1, 1, 2, 2});
  TensorPtr y = graph.conv_fprop(
      x, w,
      graph::Conv_fprop_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
  y->set_output(true);

  std::vector<float> x_data{1, 2, 3, 4, 5, 6, 7, 8, 9}, w_data{1, 0, 0, 1}, y_data(4);
  run(graph, {{x, x_data.data()}, {w, w_data.data()}, {y, y_data.data()}});
  expect(y_data, {1 + 5, 2 + 6, 4 + 8, 5 + 9});
}
