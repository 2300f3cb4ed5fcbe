#include "ops/example.h"

// A row of mean 2 and variance 1.
EXAMPLE(layer_norm) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {1, 4});
  TensorPtr scale = input(graph, "scale", {1, 4}), bias = input(graph, "bias", {1, 4});
  auto [y, mean, inv_variance] = graph.layernorm(
      x, scale, bias,
      graph::Layernorm_attributes().set_forward_phase(NormFwdPhase_t::TRAINING).set_epsilon(0.0f));
  for (TensorPtr result : {y, mean, inv_variance}) result->set_output(true);

  std::vector<float> x_data{1, 3, 1, 3}, scale_data{1, 1, 2, 2}, bias_data{0, 0, 0, 1};
  std::vector<float> y_data(4), mean_data(1), inv_variance_data(1);
  run(graph, {{x, x_data.data()},
              {scale, scale_data.data()},
              {bias, bias_data.data()},
              {y, y_data.data()},
              {mean, mean_data.data()},
              {inv_variance, inv_variance_data.data()}});
  expect(y_data, {-1, 1, -2, 3});
  expect(mean_data, {2});
  expect(inv_variance_data, {1});
}
