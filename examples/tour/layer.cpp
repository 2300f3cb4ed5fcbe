#include "tour/layer.h"

#include <algorithm>

#include "tour/independent.h"

namespace tour {
namespace {

using warploom::PointwiseMode_t;
using namespace warploom::graph;

/// Dims are always N, C, H, W; the strides say that C is fastest in memory.
Tensor_attributes image(const char* name, std::int64_t n, std::int64_t c, std::int64_t h,
                        std::int64_t w) {
  return Tensor_attributes()
      .set_name(name)
      .set_dim({n, c, h, w})
      .set_stride({h * w * c, 1, w * c, c});
}

Conv_fprop_attributes same_size() {
  return Conv_fprop_attributes()
      .set_name("convolution")
      .set_padding({1, 1})
      .set_stride({1, 1})
      .set_dilation({1, 1});
}

Pointwise_attributes add_bias() {
  return Pointwise_attributes().set_name("add_bias").set_mode(PointwiseMode_t::ADD);
}

Pointwise_attributes relu() {
  return Pointwise_attributes().set_name("relu").set_mode(PointwiseMode_t::RELU_FWD);
}

}  // namespace

LayerGraph describe(Layer& layer, float* result) {
  Graph graph = float_graph("convolution layer");
  auto x = graph.tensor(image("X", layer.images, layer.channels, layer.height, layer.width));
  auto w = graph.tensor(image("W", layer.filters, layer.channels, 3, 3));
  auto bias = graph.tensor(image("bias", 1, layer.filters, 1, 1));

  auto convolved = graph.conv_fprop(x, w, same_size());
  auto sum = graph.pointwise(convolved, bias, add_bias());
  auto y = graph.pointwise(sum, relu());
  y->set_name("Y").set_output(true);  // what is not an output never gets memory of its own

  return {std::move(graph),
          {{x, layer.x.data()}, {w, layer.w.data()}, {bias, layer.bias.data()}, {y, result}}};
}

warploom::error_t describe_one_by_one(Layer& layer, float* result, Sequence& sequence) {
  float* convolved = sequence.intermediate(layer.outputs());
  float* sum = sequence.intermediate(layer.outputs());
  const auto activations = [&](const char* name) {
    return image(name, layer.images, layer.filters, layer.height, layer.width);
  };
  {
    Graph graph = float_graph("convolution alone");
    auto x = graph.tensor(image("X", layer.images, layer.channels, layer.height, layer.width));
    auto w = graph.tensor(image("W", layer.filters, layer.channels, 3, 3));
    auto y = graph.conv_fprop(x, w, same_size());
    y->set_name("convolved").set_output(true);
    CHECK_WARPLOOM_ERROR(
        sequence.add(std::move(graph), {{x, layer.x.data()}, {w, layer.w.data()}, {y, convolved}}));
  }
  {
    Graph graph = float_graph("bias alone");
    auto x = graph.tensor(activations("convolved"));
    auto bias = graph.tensor(image("bias", 1, layer.filters, 1, 1));
    auto y = graph.pointwise(x, bias, add_bias());
    y->set_name("sum").set_output(true);
    CHECK_WARPLOOM_ERROR(
        sequence.add(std::move(graph), {{x, convolved}, {bias, layer.bias.data()}, {y, sum}}));
  }
  {
    Graph graph = float_graph("ReLU alone");
    auto x = graph.tensor(activations("sum"));
    auto y = graph.pointwise(x, relu());
    y->set_name("Y").set_output(true);
    CHECK_WARPLOOM_ERROR(sequence.add(std::move(graph), {{x, sum}, {y, result}}));
  }
  return {};
}

std::vector<double> compute_in_double(const Layer& layer) {
  const auto [images, channels, height, width, filters] =
      std::tuple(layer.images, layer.channels, layer.height, layer.width, layer.filters);
  // W's memory order is filter, row, column, channel: the order in which a window is gathered
  // below.
  const std::int64_t depth = 9 * channels;
  const Matrix windows_to_filters(depth, filters, [&](std::int64_t d, std::int64_t filter) {
    return layer.w[static_cast<std::size_t>(filter * depth + d)];
  });
  std::vector<double> result(static_cast<std::size_t>(layer.outputs()));
  for_each_in_parallel(images * height, [&, channels, height, width, filters](std::int64_t line) {
    const std::int64_t image = line / height, row = line % height;
    std::vector<double> window(static_cast<std::size_t>(depth));
    for (std::int64_t column = 0; column < width; ++column) {
      double* next = window.data();
      for (std::int64_t y = row - 1; y <= row + 1; ++y) {
        for (std::int64_t x = column - 1; x <= column + 1; ++x) {
          const bool is_inside = y >= 0 && y < height && x >= 0 && x < width;
          const float* pixel = layer.x.data() + ((image * height + y) * width + x) * channels;
          for (std::int64_t c = 0; c < channels; ++c) *next++ = is_inside ? pixel[c] : 0;
        }
      }
      double* out = result.data() + (line * width + column) * filters;
      windows_to_filters.multiply(window.data(), depth, filters, out);
      for (std::int64_t filter = 0; filter < filters; ++filter) {
        out[filter] = std::max(out[filter] + layer.bias[static_cast<std::size_t>(filter)], 0.0);
      }
    }
  });
  return result;
}

}  // namespace tour
