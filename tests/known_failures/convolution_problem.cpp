#include "known_failures/convolution_problem.h"

namespace warploom::test {

Dims ConvolutionProblem::dims_y() const {
  const auto size = [&](size_t axis, int64_t extent, int64_t window) {
    return 1 +
           (extent + pre[axis] + post[axis] - (dilation[axis] * (window - 1) + 1)) / stride[axis];
  };
  return {images, filters, size(0, height, window_height), size(1, width, window_width)};
}

void ConvolutionProblem::randomise(uint64_t seed) {
  const bool is_integer = type == DataType_t::INT8 || type == DataType_t::UINT8;
  x = is_integer ? random_integers(dims_x(), seed, type == DataType_t::INT8 ? -128 : 0, 127)
                 : random_values(dims_x(), type, seed);
  w = is_integer ? random_integers(dims_w(), seed + 1, -128, 127)
                 : random_values(dims_w(), type, seed + 1);
}

Values convolution_by_loops(const ConvolutionProblem& p) {
  const View x(p.x, p.dims_x()), w(p.w, p.dims_w());
  const int64_t per_group = p.channels / p.groups, filters_per_group = p.filters / p.groups;
  return generate(p.dims_y(), [&](const Dims& at) {
    const int64_t first_channel = at[1] / filters_per_group * per_group;
    double sum = 0;
    for (int64_t r = 0; r < p.window_height; ++r) {
      const int64_t i = at[2] * p.stride[0] + r * p.dilation[0] - p.pre[0];
      if (i < 0 || i >= p.height) continue;
      for (int64_t s = 0; s < p.window_width; ++s) {
        const int64_t j = at[3] * p.stride[1] + s * p.dilation[1] - p.pre[1];
        if (j < 0 || j >= p.width) continue;
        for (int64_t c = 0; c < per_group; ++c)
          sum += x(at[0], first_channel + c, i, j) * w(at[1], c, r, s);
      }
    }
    return sum;
  });
}

namespace {

template <class Attributes>
Attributes attributes_of(const ConvolutionProblem& p, const std::string& name) {
  return Attributes()
      .set_name(name)
      .set_compute_data_type(p.compute)
      .set_pre_padding(p.pre)
      .set_post_padding(p.post)
      .set_stride(p.stride)
      .set_dilation(p.dilation);
}

}  // namespace

ConvolutionTensors add_convolution(graph::Graph& graph, const ConvolutionProblem& p) {
  ConvolutionTensors tensors;
  tensors.x = input(graph, "X", p.dims_x(), p.layout, p.type);
  const auto w_type = p.type == DataType_t::UINT8 ? DataType_t::INT8 : p.type;
  tensors.w = input(graph, "W", p.dims_w(), p.layout, w_type);
  tensors.y = graph.conv_fprop(tensors.x, tensors.w,
                               attributes_of<graph::Conv_fprop_attributes>(p, "conv"));
  return tensors;
}

void check_convolution(const ConvolutionProblem& p) {
  graph::Graph graph = describe(p.type, p.compute);
  const auto [x, w, y] = add_convolution(graph, p);
  output(y, {}, "", p.output == DataType_t::NOT_SET ? p.type : p.output);
  expect_every_plan(graph, {{x, p.x}, {w, p.w}}, {{y, convolution_by_loops(p)}});
}

void check_gradients(const ConvolutionProblem& p) {
  const Dims y = p.dims_y();
  const Values dy_values = random_values(y, p.type, 77);
  const int64_t per_group = p.channels / p.groups, filters_per_group = p.filters / p.groups;
  Values dx_values(p.x.size()), dw_values(p.w.size());
  size_t at = 0;
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t k = 0; k < y[1]; ++k)
      for (int64_t h = 0; h < y[2]; ++h)
        for (int64_t w = 0; w < y[3]; ++w, ++at)
          for (int64_t r = 0; r < p.window_height; ++r)
            for (int64_t s = 0; s < p.window_width; ++s)
              for (int64_t c = 0; c < per_group; ++c) {
                const int64_t i = h * p.stride[0] + r * p.dilation[0] - p.pre[0];
                const int64_t j = w * p.stride[1] + s * p.dilation[1] - p.pre[1];
                if (i < 0 || i >= p.height || j < 0 || j >= p.width) continue;
                const int64_t channel = k / filters_per_group * per_group + c;
                const auto x_at =
                    static_cast<size_t>(((n * p.channels + channel) * p.height + i) * p.width + j);
                const auto w_at = static_cast<size_t>(
                    ((k * per_group + c) * p.window_height + r) * p.window_width + s);
                dx_values[x_at] += dy_values[at] * p.w[w_at];
                dw_values[w_at] += dy_values[at] * p.x[x_at];
              }
  graph::Graph graph = describe(p.type, p.compute);
  const auto dy = input(graph, "DY", y, p.layout);
  const auto x = input(graph, "X", p.dims_x(), p.layout);
  const auto w = input(graph, "W", p.dims_w(), p.layout);
  const auto dx = graph.conv_dgrad(dy, w, attributes_of<graph::Conv_dgrad_attributes>(p, "dgrad"));
  const auto dw = graph.conv_wgrad(dy, x, attributes_of<graph::Conv_wgrad_attributes>(p, "wgrad"));
  output(dx, p.dims_x(), p.layout);
  output(dw, p.dims_w(), p.layout);
  expect_every_plan(graph, {{dy, dy_values}, {x, p.x}, {w, p.w}},
                    {{dx, dx_values}, {dw, dw_values}});
}

}  // namespace warploom::test
