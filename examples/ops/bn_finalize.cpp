#include "ops/example.h"

// The sums of 1, 3, 1, 3: mean 2 and variance 20 / 4 - 2^2 = 1.
EXAMPLE(bn_finalize) {
  graph::Graph graph = float_graph();
  TensorPtr sum = input(graph, "sum", {1, 1, 1, 1}),
            square_sum = input(graph, "square_sum", {1, 1, 1, 1});
  TensorPtr scale = input(graph, "scale", {1, 1, 1, 1}), bias = input(graph, "bias", {1, 1, 1, 1});
  TensorPtr epsilon = graph.tensor(0.0f, graph::ScalarType::RUNTIME_PARAM);
  TensorPtr count = graph.tensor(4.0f, graph::ScalarType::RUNTIME_PARAM);
  auto results = graph.bn_finalize(sum, square_sum, scale, bias, epsilon, count,
                                   graph::BN_finalize_attributes());
  TensorPtr eq_scale = results[0], eq_bias = results[1];
  for (TensorPtr result : {eq_scale, eq_bias}) result->set_output(true);

  std::vector<float> sum_data{8}, square_sum_data{20}, scale_data{3}, bias_data{1};
  std::vector<float> eq_scale_data(1), eq_bias_data(1);
  run(graph, {{sum, sum_data.data()},
              {square_sum, square_sum_data.data()},
              {scale, scale_data.data()},
              {bias, bias_data.data()},
              {eq_scale, eq_scale_data.data()},
              {eq_bias, eq_bias_data.data()}});
  expect(eq_scale_data, {3});
  expect(eq_bias_data, {1 - 2 * 3});
}
