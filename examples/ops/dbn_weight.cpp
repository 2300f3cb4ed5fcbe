#include "ops/example.h"

// What batchnorm_backward gives, as a line through DY and X: DX = 1 DY + 0.25 X - 0.75.
EXAMPLE(dbn_weight) {
  graph::Graph graph = float_graph();
  TensorPtr dy = input(graph, "dy", {2, 1, 1, 2}), x = input(graph, "x", {2, 1, 1, 2});
  TensorPtr mean = input(graph, "mean", {1, 1, 1, 1}),
            inv_variance = input(graph, "inv_variance", {1, 1, 1, 1});
  TensorPtr scale = input(graph, "scale", {1, 1, 1, 1});
  auto results = graph.dbn_weight(dy, x, mean, inv_variance, scale, graph::DBN_weight_attributes());
  for (TensorPtr result : results) result->set_output(true);

  std::vector<float> dy_data{1, 0, 0, 0}, x_data{1, 3, 1, 3}, mean_data{2}, inv_variance_data{1},
      scale_data{1};
  std::vector<float> dscale(1), dbias(1), eq_scale_dy(1), eq_scale_x(1), eq_bias(1);
  run(graph, {{dy, dy_data.data()},
              {x, x_data.data()},
              {mean, mean_data.data()},
              {inv_variance, inv_variance_data.data()},
              {scale, scale_data.data()},
              {results[0], dscale.data()},
              {results[1], dbias.data()},
              {results[2], eq_scale_dy.data()},
              {results[3], eq_scale_x.data()},
              {results[4], eq_bias.data()}});
  expect(dscale, {-1});
  expect(dbias, {1});
  expect(eq_scale_dy, {1});
  expect(eq_scale_x, {0.25});
  expect(eq_bias, {-0.75});
}
