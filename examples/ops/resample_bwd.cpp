#include "ops/example.h"

// Each gradient goes back to where the maximum came from.
EXAMPLE(resample_bwd) {
  graph::Graph graph = float_graph();
  TensorPtr dy = input(graph, "dy", {1, 1, 1, 2});
  TensorPtr index = input(graph, "index", {1, 1, 1, 2}, DataType_t::INT8);
  TensorPtr dx = graph.resample_backward(dy, index,
                                         graph::Resample_backward_attributes()
                                             .set_resampling_mode(ResampleMode_t::MAXPOOL)
                                             .set_padding_mode(PaddingMode_t::NEG_INF_PAD)
                                             .set_window({2, 2})
                                             .set_stride({2, 2})
                                             .set_pre_padding({0, 0})
                                             .set_post_padding({0, 0}));
  dx->set_output(true).set_dim({1, 1, 2, 4});

  std::vector<float> dy_data{10, 20}, dx_data(8);
  std::vector<int8_t> index_data{1, 2};
  run(graph, {{dy, dy_data.data()}, {index, index_data.data()}, {dx, dx_data.data()}});
  expect(dx_data, {0, 10, 0, 0, 0, 0, 20, 0});
}
