#include "ops/example.h"

// Each entry of the batch has a scale and bias of its own.
EXAMPLE(ada_layer_norm) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {2, 1, 2});
  TensorPtr scale = input(graph, "scale", {2, 1, 2}), bias = input(graph, "bias", {2, 1, 2});
  auto [y, mean, inv_variance] =
      graph.adalayernorm(x, scale, bias,
                         graph::AdaLayernorm_attributes()
                             .set_forward_phase(NormFwdPhase_t::INFERENCE)
                             .set_epsilon(0.0f));
  y->set_output(true);

  std::vector<float> x_data{1, 3, 1, 3}, scale_data{1, 1, 10, 10}, bias_data{0, 0, 5, 5}, y_data(4);
  run(graph, {{x, x_data.data()},
              {scale, scale_data.data()},
              {bias, bias_data.data()},
              {y, y_data.data()}});
  expect(y_data, {-1, 1, -10 + 5, 10 + 5});
}
