#include "ops/example.h"

// A channel normalized to -1, 1, -1, 1, and a gradient that comes in at its first element.
EXAMPLE(instance_norm_bprop) {
  graph::Graph graph = float_graph();
  TensorPtr dy = input(graph, "dy", {1, 1, 2, 2}), x = input(graph, "x", {1, 1, 2, 2});
  TensorPtr scale = input(graph, "scale", {1, 1, 1, 1});
  TensorPtr mean = input(graph, "mean", {1, 1, 1, 1}),
            inv_variance = input(graph, "inv_variance", {1, 1, 1, 1});
  auto [dx, dscale, dbias] = graph.instancenorm_backward(
      dy, x, scale,
      graph::Instancenorm_backward_attributes().set_saved_mean_and_inv_variance(mean,
                                                                                inv_variance));
  for (TensorPtr result : {dx, dscale, dbias}) result->set_output(true);

  std::vector<float> dy_data{1, 0, 0, 0}, x_data{1, 3, 1, 3}, scale_data{1};
  std::vector<float> mean_data{2}, inv_variance_data{1};
  std::vector<float> dx_data(4), dscale_data(1), dbias_data(1);
  run(graph, {{dy, dy_data.data()},
              {x, x_data.data()},
              {scale, scale_data.data()},
              {mean, mean_data.data()},
              {inv_variance, inv_variance_data.data()},
              {dx, dx_data.data()},
              {dscale, dscale_data.data()},
              {dbias, dbias_data.data()}});
  expect(dx_data, {0.5, 0, -0.5, 0});
  expect(dscale_data, {-1});
  expect(dbias_data, {1});
}
