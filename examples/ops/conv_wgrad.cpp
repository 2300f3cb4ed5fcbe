#include "ops/example.h"

// The gradient for a filter of two by two.
EXAMPLE(conv_wgrad) {
  graph::Graph graph = float_graph();
  TensorPtr dy = input(graph, "dy", {1, 1, 2, 2}), x = input(graph, "x", {1, 1, 3, 3});
  TensorPtr dw = graph.conv_wgrad(
      dy, x,
      graph::Conv_wgrad_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
  dw->set_output(true).set_dim({1, 1, 2, 2});

  std::vector<float> dy_data{1, 0, 0, 1}, x_data{1, 2, 3, 4, 5, 6, 7, 8, 9}, dw_data(4);
  run(graph, {{dy, dy_data.data()}, {x, x_data.data()}, {dw, dw_data.data()}});
  expect(dw_data, {1 + 5, 2 + 6, 4 + 8, 5 + 9});
}
