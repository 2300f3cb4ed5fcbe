#include "ops/example.h"

// The gradient for the image of the convolution with the filter 1, 0, 0, 1.
EXAMPLE(conv_dgrad) {
  graph::Graph graph = float_graph();
  TensorPtr dy = input(graph, "dy", {1, 1, 2, 2}), w = input(graph, "w", {1, 1, 2, 2});
  TensorPtr dx = graph.conv_dgrad(
      dy, w,
      graph::Conv_dgrad_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
  dx->set_output(true).set_dim({1, 1, 3, 3});

  std::vector<float> dy_data{1, 2, 3, 4}, w_data{1, 0, 0, 1}, dx_data(9);
  run(graph, {{dy, dy_data.data()}, {w, w_data.data()}, {dx, dx_data.data()}});
  expect(dx_data, {1, 2, 0, 3, 4 + 1, 2, 0, 3, 4});
}
