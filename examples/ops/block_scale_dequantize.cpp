#include "ops/example.h"

// Blocks of two along the last dim, with the scales 2 and 1/2.
EXAMPLE(block_scale_dequantize) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {1, 4}, DataType_t::FP8_E4M3);
  TensorPtr scale = input(graph, "scale", {1, 2}, DataType_t::FP8_E8M0);
  TensorPtr y = graph.block_scale_dequantize(
      x, scale, graph::Block_scale_dequantize_attributes().set_block_size({1, 2}));
  y->set_output(true);

  // 1, 2, -1, 448 as FP8_E4M3.
  std::vector<uint8_t> x_data{0x38, 0x40, 0xb8, 0x7e}, scale_data{128, 126};
  std::vector<float> y_data(4);
  run(graph, {{x, x_data.data()}, {scale, scale_data.data()}, {y, y_data.data()}});
  expect(y_data, {2, 4, -0.5, 224});
}
