#include "ops/example.h"

// The row 1, 7, normalized to 0.2, 1.4, and a gradient that comes in at its first element.
EXAMPLE(rms_norm_bprop) {
  graph::Graph graph = float_graph();
  TensorPtr dy = input(graph, "dy", {1, 2}), x = input(graph, "x", {1, 2});
  TensorPtr scale = input(graph, "scale", {1, 2});
  TensorPtr inv_variance = input(graph, "inv_variance", {1, 1});
  auto [dx, dscale, dbias] = graph.rmsnorm_backward(
      dy, x, scale, inv_variance, graph::Rmsnorm_backward_attributes().has_dbias(true));
  for (TensorPtr result : {dx, dscale, dbias}) result->set_output(true);

  std::vector<float> dy_data{1, 0}, x_data{1, 7}, scale_data{1, 1}, inv_variance_data{0.2f};
  std::vector<float> dx_data(2), dscale_data(2), dbias_data(2);
  run(graph, {{dy, dy_data.data()},
              {x, x_data.data()},
              {scale, scale_data.data()},
              {inv_variance, inv_variance_data.data()},
              {dx, dx_data.data()},
              {dscale, dscale_data.data()},
              {dbias, dbias_data.data()}});
  // The mean of dy times the normalized row is 0.1.
  expect(dx_data, {0.2 * (1 - 0.2 * 0.1), 0.2 * (0 - 1.4 * 0.1)});
  expect(dscale_data, {0.2, 0});
  expect(dbias_data, {1, 0});
}
