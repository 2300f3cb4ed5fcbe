#include "ops/example.h"

// The greatest of every two by two elements, and its place in the window.
EXAMPLE(resample) {
  graph::Graph graph = float_graph();
  TensorPtr x = input(graph, "x", {1, 1, 2, 4});
  auto [y, index] = graph.resample(x, graph::Resample_attributes()
                                          .set_resampling_mode(ResampleMode_t::MAXPOOL)
                                          .set_padding_mode(PaddingMode_t::NEG_INF_PAD)
                                          .set_window({2, 2})
                                          .set_stride({2, 2})
                                          .set_pre_padding({0, 0})
                                          .set_post_padding({0, 0})
                                          .set_generate_index(true));
  y->set_output(true);
  index->set_output(true).set_data_type(DataType_t::INT8);

  std::vector<float> x_data{1, 5, 2, 0, 3, 4, 8, 7}, y_data(2);
  std::vector<int8_t> index_data(2);
  run(graph, {{x, x_data.data()}, {y, y_data.data()}, {index, index_data.data()}});
  expect(y_data, {5, 8});
  expect(index_data, {1, 2});
}
