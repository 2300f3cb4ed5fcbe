#include "ops/example.h"

// With the mean 2 and the variance 1/4 of earlier batches.
EXAMPLE(batchnorm_inference) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {1, 1, 1, 2});
  TensorPtr mean = input(graph, "mean", {1, 1, 1, 1}),
            inv_variance = input(graph, "inv_variance", {1, 1, 1, 1});
  TensorPtr scale = input(graph, "scale", {1, 1, 1, 1}), bias = input(graph, "bias", {1, 1, 1, 1});
  TensorPtr y = graph.batchnorm_inference(x, mean, inv_variance, scale, bias,
                                          graph::Batchnorm_inference_attributes());
  y->set_output(true);

  std::vector<float> x_data{1, 3}, mean_data{2}, inv_variance_data{2}, scale_data{3}, bias_data{1},
      y_data(2);
  run(graph, {{x, x_data.data()},
              {mean, mean_data.data()},
              {inv_variance, inv_variance_data.data()},
              {scale, scale_data.data()},
              {bias, bias_data.data()},
              {y, y_data.data()}});
  expect(y_data, {-1 * 2 * 3 + 1, 1 * 2 * 3 + 1});
}
