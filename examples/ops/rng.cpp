#include "ops/example.h"

// Eight draws of a coin. The bits are the same on every device.
EXAMPLE(rng) {
  graph::Graph graph = float_graph();
  TensorPtr y = graph.rng(nullptr, nullptr,
                          graph::Rng_attributes()
                              .set_distribution(RngDistribution_t::BERNOULLI)
                              .set_bernoulli_probability(0.5)
                              .set_seed(1)
                              .set_dim({8}));
  y->set_output(true);

  std::vector<float> y_data(8);
  run(graph, {{y, y_data.data()}});
  expect(y_data, {0, 0, 0, 0, 0, 0, 1, 0});
}
