#include "ops/example.h"

// A product of two matrices.
EXAMPLE(matmul) {
  graph::Graph graph = float_graph();
  TensorPtr a = input(graph, "a", {1, 2, 2}), b = input(graph, "b", {1, 2, 2});
  TensorPtr c = graph.matmul(a, b, graph::Matmul_attributes());
  c->set_output(true);

  std::vector<float> a_data{1, 2, 3, 4}, b_data{5, 6, 7, 8}, c_data(4);
  run(graph, {{a, a_data.data()}, {b, b_data.data()}, {c, c_data.data()}});
  expect(c_data, {19, 22, 43, 50});
}
