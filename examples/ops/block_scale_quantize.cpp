#include "ops/example.h"

// The greatest magnitudes, 448 and 7, give the scales 1 and 1/64: 127 and 121 in FP8_E8M0.
EXAMPLE(block_scale_quantize) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {1, 8});
  auto [y, scale] =
      graph.block_scale_quantize(x, graph::Block_scale_quantize_attributes().set_block_size(4));
  y->set_output(true).set_data_type(DataType_t::FP8_E4M3);
  scale->set_output(true).set_data_type(DataType_t::FP8_E8M0);

  std::vector<float> x_data{448, -1, 0, 2, 7, -3, 3.5, 0.25};
  std::vector<uint8_t> y_data(8), scale_data(2);
  run(graph, {{x, x_data.data()}, {y, y_data.data()}, {scale, scale_data.data()}});
  expect(scale_data, {127, 121});
  // 448, -1, 0, 2, and 448, -192, 224, 16 as FP8_E4M3.
  expect(y_data, {0x7e, 0xb8, 0x00, 0x40, 0x7e, 0xf4, 0x76, 0x58});
}
