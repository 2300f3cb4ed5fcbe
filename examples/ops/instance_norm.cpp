#include "ops/example.h"

// Two channels, each normalized by itself.
EXAMPLE(instance_norm) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {1, 2, 1, 2});
  TensorPtr scale = input(graph, "scale", {1, 2, 1, 1}), bias = input(graph, "bias", {1, 2, 1, 1});
  auto [y, mean, inv_variance] =
      graph.instancenorm(x, scale, bias,
                         graph::Instancenorm_attributes()
                             .set_forward_phase(NormFwdPhase_t::INFERENCE)
                             .set_epsilon(0.0f));
  y->set_output(true);

  std::vector<float> x_data{1, 3, 10, 30}, scale_data{1, 2}, bias_data{0, 5}, y_data(4);
  run(graph, {{x, x_data.data()},
              {scale, scale_data.data()},
              {bias, bias_data.data()},
              {y, y_data.data()}});
  expect(y_data, {-1, 1, -2 + 5, 2 + 5});
}
