#include <gtest/gtest.h>

#include <algorithm>

#include "harness/plan_runner.h"
#include "smoke/graphs.h"

namespace warploom::test {
namespace {

constexpr int64_t kN = 2, kC = 5, kH = 7, kW = 9, kK = 6, kR = 3;

// Stride 1, dilation 1, padding 1: the image keeps its size.
Values convolution_bias_relu(const Values& x, const Values& w, const Values& bias) {
  Values y;
  for (int64_t n = 0; n < kN; ++n)
    for (int64_t k = 0; k < kK; ++k)
      for (int64_t h = 0; h < kH; ++h)
        for (int64_t q = 0; q < kW; ++q) {
          double sum = bias[k];
          for (int64_t c = 0; c < kC; ++c)
            for (int64_t r = 0; r < kR; ++r)
              for (int64_t s = 0; s < kR; ++s) {
                const int64_t row = h + r - 1, column = q + s - 1;
                if (row < 0 || row >= kH || column < 0 || column >= kW) continue;
                sum += x[((n * kC + c) * kH + row) * kW + column] *
                       w[((k * kC + c) * kR + r) * kR + s];
              }
          y.push_back(std::max(sum, 0.0));
        }
  return y;
}

TEST(Smoke, ConvolutionBiasRelu) {
  auto graph = float_graph();
  auto x = input(graph, "x", {kN, kC, kH, kW});
  auto w = input(graph, "w", {kK, kC, kR, kR});
  auto bias = input(graph, "bias", {1, kK, 1, 1});
  auto convolution = graph.conv_fprop(
      x, w,
      graph::Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  auto sum = graph.pointwise(convolution, bias, mode(PointwiseMode_t::ADD));
  auto y = graph.pointwise(sum, mode(PointwiseMode_t::RELU_FWD));
  keep(y, {kN, kK, kH, kW});

  const Values x_values = spread_values(kN * kC * kH * kW, 1);
  const Values w_values = spread_values(kK * kC * kR * kR, 2);
  const Values bias_values = spread_values(kK, 3);
  expect_every_plan(graph, {{x, x_values}, {w, w_values}, {bias, bias_values}},
                    {{y, convolution_bias_relu(x_values, w_values, bias_values)}});
}

}  // namespace
}  // namespace warploom::test
