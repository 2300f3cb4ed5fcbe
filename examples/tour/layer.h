#pragma once
/// The layer that sections 1 and 2 run: Y = relu(convolution(X, W) + bias).
#include <cstdint>
#include <vector>

#include <warploom/warploom.h>

#include "tour/running.h"

namespace tour {

/// A 3x3 convolution that keeps the image's size, with data. Images lie in memory with the channel
/// fastest (NHWC), filters likewise.
struct Layer {
  std::int64_t images, channels, height, width, filters;
  std::vector<float> x, w, bias;

  std::int64_t outputs() const { return images * filters * height * width; }
  double operations() const { return 2.0 * static_cast<double>(outputs() * channels * 9); }
};

/// As one graph of three operations, with its data; the result goes to `y`.
struct LayerGraph {
  warploom::graph::Graph graph;
  Pack pack;
};
LayerGraph describe(Layer& layer, float* y);

/// As three graphs of one operation, with real tensors between them.
warploom::error_t describe_one_by_one(Layer& layer, float* y, Sequence& sequence);

/// The same in double, with plain loops.
std::vector<double> compute_in_double(const Layer& layer);

}  // namespace tour
