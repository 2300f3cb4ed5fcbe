/// Convolution, bias and ReLU as one graph, run as one kernel.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unordered_map>
#include <vector>

#include <warploom/warploom.h>

using namespace warploom;
using graph::TensorPtr;

void must(const error_object& error) {
  if (error.is_good()) return;
  std::cerr << error << "\n";
  std::exit(1);
}

int main() {
  // Dims are N, C, H, W; strides say how they lie in memory, here with the channel fastest.
  const std::vector<int64_t> image{1, 16, 32, 32}, image_strides{16 * 1024, 1, 16 * 32, 16};
  const std::vector<int64_t> filter{8, 16, 3, 3}, filter_strides{16 * 9, 1, 16 * 3, 16};

  graph::Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  auto x = graph.tensor(
      graph::Tensor_attributes().set_name("X").set_dim(image).set_stride(image_strides));
  auto w = graph.tensor(
      graph::Tensor_attributes().set_name("W").set_dim(filter).set_stride(filter_strides));
  auto bias = graph.tensor(
      graph::Tensor_attributes().set_name("bias").set_dim({1, 8, 1, 1}).set_stride({8, 1, 8, 8}));
  auto convolved = graph.conv_fprop(
      x, w,
      graph::Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  auto sum = graph.pointwise(convolved, bias,
                             graph::Pointwise_attributes().set_mode(PointwiseMode_t::ADD));
  auto y = graph.pointwise(sum, graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD));
  y->set_output(true);

  std::unique_ptr<Handle> handle = create_handle();
  must(graph.build(handle.get(), {HeurMode_t::A}));

  std::vector<float> x_data(16 * 32 * 32, 1.0f), w_data(8 * 16 * 9, 0.01f), bias_data(8, -1.0f);
  std::vector<float> y_data(8 * 32 * 32);
  std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size()));
  std::unordered_map<TensorPtr, void*> pack{
      {x, x_data.data()}, {w, w_data.data()}, {bias, bias_data.data()}, {y, y_data.data()}};
  must(graph.execute(handle.get(), pack, workspace.data()));

  // In the middle 16 x 9 products of 0.01, less the bias: 0.44. At a corner 4 of 9 taps are inside.
  std::printf("middle %.2f, corner %.2f\n", y_data[(16 * 32 + 16) * 8], y_data[0]);
}
