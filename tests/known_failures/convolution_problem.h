#pragma once
/// A convolution of images, its answer by loops, and the check of every plan against it.
#include "harness/describe.h"
#include "harness/plan_runner.h"

namespace warploom::test {

struct ConvolutionProblem {
  int64_t images = 1, channels = 1, height = 1, width = 1;   ///< X
  int64_t filters = 1, window_height = 1, window_width = 1;  ///< W
  int64_t groups = 1;
  Dims stride{1, 1}, dilation{1, 1}, pre{0, 0}, post{0, 0};
  DataType_t type = DataType_t::FLOAT, compute = DataType_t::FLOAT;
  DataType_t output = DataType_t::NOT_SET;  ///< that of X unless given
  std::string layout = "row_major";
  Values x, w;

  Dims dims_x() const { return {images, channels, height, width}; }
  Dims dims_w() const { return {filters, channels / groups, window_height, window_width}; }
  Dims dims_y() const;
  void set_padding(int64_t each) { pre = post = {each, each}; }
  void set_window(int64_t each) { window_height = window_width = each; }
  void randomise(uint64_t seed = 1);
};

/// The definition, in double.
Values convolution_by_loops(const ConvolutionProblem& problem);

/// The problem's X, W and convolution added to a graph.
struct ConvolutionTensors {
  graph::TensorPtr x, w, y;
};
ConvolutionTensors add_convolution(graph::Graph& graph, const ConvolutionProblem& problem);

void check_convolution(const ConvolutionProblem& problem);
/// Both gradients, for a random gradient of Y: every plan against loops.
void check_gradients(const ConvolutionProblem& problem);

}  // namespace warploom::test
