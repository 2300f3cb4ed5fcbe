#include "ops/example.h"

// A matrix stored by columns, dealt out by rows.
EXAMPLE(reshape) {
  graph::Graph graph = float_graph();
  TensorPtr x =
      graph.tensor(graph::Tensor_attributes().set_name("x").set_dim({2, 3}).set_stride({1, 2}));
  TensorPtr y = graph.reshape(
      x, graph::Reshape_attributes().set_dim({3, 2}).set_reshape_mode(ReshapeMode_t::LOGICAL));
  y->set_output(true);

  std::vector<float> x_data{1, 4, 2, 5, 3, 6}, y_data(6);
  run(graph, {{x, x_data.data()}, {y, y_data.data()}});
  expect(y_data, {1, 2, 3, 4, 5, 6});
}
