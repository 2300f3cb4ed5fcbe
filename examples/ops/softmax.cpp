#include "ops/example.h"

// The exponentials of 0 and ln 3 are 1 and 3.
EXAMPLE(softmax) {
  graph::Graph graph = float_graph();
  TensorPtr p = input(graph, "p", {1, 2});
  TensorPtr s = graph.softmax(p, graph::Softmax_attributes().set_axis(1));
  s->set_output(true);

  std::vector<float> p_data{0, std::log(3.0f)}, s_data(2);
  run(graph, {{p, p_data.data()}, {s, s_data.data()}});
  expect(s_data, {0.25, 0.75});
}
