#include "ops/example.h"

// The mean of the squares of 1 and 7 is 25.
EXAMPLE(rms_norm) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {1, 2}), scale = input(graph, "scale", {1, 2});
  auto [y, inv_variance] =
      graph.rmsnorm(x, scale,
                    graph::Rmsnorm_attributes()
                        .set_forward_phase(NormFwdPhase_t::TRAINING)
                        .set_epsilon(graph.tensor(0.0f, graph::ScalarType::RUNTIME_PARAM)));
  for (TensorPtr result : {y, inv_variance}) result->set_output(true);

  std::vector<float> x_data{1, 7}, scale_data{10, 100}, y_data(2), inv_variance_data(1);
  run(graph, {{x, x_data.data()},
              {scale, scale_data.data()},
              {y, y_data.data()},
              {inv_variance, inv_variance_data.data()}});
  expect(y_data, {10 / 5.0, 700 / 5.0});
  expect(inv_variance_data, {1 / 5.0});
}
