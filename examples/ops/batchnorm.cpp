#include "ops/example.h"

// A channel of mean 2 and variance 1 over four elements; the running variance takes 4 / 3 of it.
EXAMPLE(batchnorm) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {2, 1, 1, 2});
  TensorPtr scale = input(graph, "scale", {1, 1, 1, 1}), bias = input(graph, "bias", {1, 1, 1, 1});
  TensorPtr old_mean = input(graph, "old_mean", {1, 1, 1, 1});
  TensorPtr old_variance = input(graph, "old_variance", {1, 1, 1, 1});
  TensorPtr epsilon = graph.tensor(0.0f, graph::ScalarType::RUNTIME_PARAM);
  TensorPtr momentum = graph.tensor(0.5f, graph::ScalarType::RUNTIME_PARAM);
  auto [y, mean, inv_variance, next_mean, next_variance] =
      graph.batchnorm(x, scale, bias,
                      graph::Batchnorm_attributes().set_epsilon(epsilon).set_previous_running_stats(
                          old_mean, old_variance, momentum));
  for (TensorPtr result : {y, next_mean, next_variance}) result->set_output(true);

  std::vector<float> x_data{1, 3, 1, 3}, scale_data{1}, bias_data{10}, old_mean_data{0},
      old_variance_data{1};
  std::vector<float> y_data(4), next_mean_data(1), next_variance_data(1);
  run(graph, {{x, x_data.data()},
              {scale, scale_data.data()},
              {bias, bias_data.data()},
              {old_mean, old_mean_data.data()},
              {old_variance, old_variance_data.data()},
              {y, y_data.data()},
              {next_mean, next_mean_data.data()},
              {next_variance, next_variance_data.data()}});
  expect(y_data, {9, 11, 9, 11});
  expect(next_mean_data, {0.5 * 0 + 0.5 * 2});
  expect(next_variance_data, {0.5 * 1 + 0.5 * 4 / 3});
}
