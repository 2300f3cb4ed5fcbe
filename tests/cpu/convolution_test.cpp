#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "cpu/engine_runner.h"
#include "cpu/group_builder.h"

namespace warploom::test {
namespace {

using fusion::AnchorKind;

/// Sizes in up to three spatial dimensions; the last entries are used.
struct Convolution {
  int64_t images = 1, groups = 1, inputs = 1, outputs = 1;  // channels of one group
  Dims image, window, stride, dilation, pre, post;
  bool flips = false;

  Dims x_dims() const { return join(images, groups * inputs, image); }
  Dims w_dims() const { return join(groups * outputs, inputs, window); }
  Dims y_dims() const {
    Dims extent;
    for (size_t i = 0; i < image.size(); ++i)
      extent.push_back(1 + (image[i] + pre[i] + post[i] - (dilation[i] * (window[i] - 1) + 1)) /
                               stride[i]);
    return join(images, groups * outputs, extent);
  }
  static Dims join(int64_t a, int64_t b, Dims rest) {
    rest.insert(rest.begin(), {a, b});
    return rest;
  }
};

int64_t product(const Dims& dims) {
  int64_t result = 1;
  for (int64_t dim : dims) result *= dim;
  return result;
}

/// Steps through all indices; false when they are done.
bool advance(Dims& index, const Dims& dims) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

int64_t flat(const Dims& index, const Dims& dims) {
  int64_t result = 0;
  for (size_t i = 0; i < dims.size(); ++i) result = result * dims[i] + index[i];
  return result;
}

Values convolve(const Convolution& c, const Values& x, const Values& w) {
  const Dims x_dims = c.x_dims(), w_dims = c.w_dims(), y_dims = c.y_dims();
  Values y;
  if (product(y_dims) == 0) return y;
  Dims at(y_dims.size(), 0);
  do {
    double sum = 0;
    Dims tap(w_dims.size() - 2, 0);
    do {
      Dims x_at = at, w_at{at[1], 0};
      bool is_inside = true;
      for (size_t i = 0; i < tap.size(); ++i) {
        x_at[i + 2] = at[i + 2] * c.stride[i] + tap[i] * c.dilation[i] - c.pre[i];
        is_inside &= x_at[i + 2] >= 0 && x_at[i + 2] < c.image[i];
        w_at.push_back(c.flips ? c.window[i] - 1 - tap[i] : tap[i]);
      }
      for (int64_t channel = 0; is_inside && channel < c.inputs; ++channel) {
        x_at[1] = at[1] / c.outputs * c.inputs + channel;
        w_at[1] = channel;
        sum +=
            x[static_cast<size_t>(flat(x_at, x_dims))] * w[static_cast<size_t>(flat(w_at, w_dims))];
      }
    } while (advance(tap, c.window));
    y.push_back(sum);
  } while (advance(at, y_dims));
  return y;
}

graph::Conv_fprop_attributes attributes(const Convolution& c) {
  graph::Conv_fprop_attributes result;
  result.set_pre_padding(c.pre).set_post_padding(c.post).set_stride(c.stride);
  result.set_dilation(c.dilation);
  if (c.flips) result.set_convolution_mode(ConvolutionMode_t::CONVOLUTION);
  return result;
}

struct Options {
  std::string x = "channels_last", w = "channels_last", y = "channels_last";
  DataType_t type = DataType_t::FLOAT, result = DataType_t::FLOAT;
  DataType_t compute = DataType_t::FLOAT;
  bool has_special_filter = false, only_generic = false;
};

void check(const Convolution& c, const Options& options = {}) {
  SCOPED_TRACE(options.x + ", " + options.w + ", " + options.y + ", " +
               std::string(to_string(options.type)) + ", groups " + std::to_string(c.groups));
  GroupBuilder builder;
  const Values x = rounded(random_values(product(c.x_dims()), 1), options.type);
  Values w = rounded(random_values(product(c.w_dims()), 2), options.type);
  if (options.has_special_filter) w[0] = std::numeric_limits<double>::infinity();
  const auto tx = builder.stored("X", options.type, c.x_dims(), options.x);
  const auto tw = builder.stored("W", options.type, c.w_dims(), options.w);
  const auto ty = builder.stored("Y", options.result, c.y_dims(), options.y);
  builder.anchor(AnchorKind::kContraction, attributes(c), {tx, tw}, {ty}, options.compute);
  builder.begin_epilogue(ty);
  builder.store(builder.anchor_value());
  const ValuesById expected{{ty, rounded(convolve(c, x, w), options.result)}};
  if (options.only_generic)
    expect_engine("cpu.generic", builder.build(), {{tx, x}, {tw, w}}, expected);
  else
    expect_engine_and_generic("cpu.conv", builder.build(), {{tx, x}, {tw, w}}, expected);
}

Convolution planar(int64_t images, int64_t groups, int64_t inputs, int64_t outputs, Dims image,
                   Dims window, int64_t pad = 0, int64_t stride = 1, int64_t dilation = 1) {
  const size_t n = image.size();
  return {images,       groups,      inputs,          outputs,
          image,        window,      Dims(n, stride), Dims(n, dilation),
          Dims(n, pad), Dims(n, pad)};
}

TEST(CpuConv, Windows) {
  check(planar(2, 1, 5, 19, {9, 11}, {3, 3}, 1));
  check(planar(1, 1, 3, 35, {14, 13}, {7, 7}, 3, 2));
  check(planar(2, 1, 17, 33, {8, 9}, {1, 1}));
  check(planar(2, 1, 17, 33, {8, 9}, {1, 1}, 0, 2));
  check(planar(2, 1, 17, 33, {8, 9}, {1, 1}, 1, 3));
  check(planar(1, 1, 6, 8, {12, 10}, {3, 2}, 2, 1, 2));
  check(planar(1, 1, 6, 8, {12, 10}, {3, 2}, 0, 2, 3));
  check(planar(1, 1, 6, 8, {6, 1}, {5, 1}));
}

TEST(CpuConv, TailsOfWidth) {
  for (int64_t width : {1, 2, 7, 8, 9, 31, 33, 63, 65, 97, 127, 129})
    check(planar(1, 1, 4, 18, {3, width}, {3, 3}, 1));
}

TEST(CpuConv, TailsOfChannels) {
  for (int64_t channels : {1, 2, 7, 8, 9, 31, 33, 63, 65, 97, 127, 129}) {
    check(planar(1, 1, channels, 9, {5, 4}, {3, 3}, 1));
    check(planar(1, 1, 5, channels, {5, 4}, {3, 3}, 1));
  }
}

TEST(CpuConv, PagesApart) {
  check(planar(1, 1, 1024, 70, {3, 4}, {1, 1}));
  check(planar(1, 1, 1024, 20, {3, 4}, {3, 3}, 1));
}

TEST(CpuConv, AsymmetricPaddingStridesAndFlip) {
  Convolution c{2, 1, 5, 19, {9, 11}, {3, 4}, {2, 1}, {1, 2}, {0, 3}, {2, 1}, true};
  check(c);
  c = {1, 1, 2, 3, {4, 4}, {2, 2}, {3, 2}, {1, 1}, {1, 0}, {0, 1}, true};
  check(c);
}

TEST(CpuConv, Layouts) {
  for (const char* x : {"channels_last", "row_major", "padded_channels_last", "reversed", "spread"})
    for (const char* w : {"channels_last", "row_major"})
      for (const char* y : {"channels_last", "row_major", "padded"})
        check(planar(2, 1, 6, 20, {7, 9}, {3, 3}, 1), {.x = x, .w = w, .y = y});
  check(planar(2, 1, 6, 20, {7, 9}, {3, 3}), {.x = "padded_channels_last"});
  check(planar(2, 1, 1, 1, {1, 1}, {1, 1}), {.x = "odd_ones", .w = "odd_ones", .y = "odd_ones"});
}

TEST(CpuConv, Groups) {
  check(planar(2, 3, 4, 5, {7, 9}, {3, 3}, 1));
  check(planar(2, 3, 4, 5, {7, 9}, {1, 1}), {.x = "row_major", .y = "row_major"});
  check(planar(1, 2, 3, 70, {7, 9}, {3, 3}, 1, 2));
}

TEST(CpuConv, Depthwise) {
  check(planar(2, 13, 1, 1, {7, 9}, {3, 3}, 1));
  check(planar(2, 70, 1, 1, {7, 9}, {3, 3}, 1, 2));
  check(planar(1, 9, 1, 2, {7, 9}, {3, 3}, 1));
  check(planar(1, 33, 1, 1, {7, 9}, {2, 5}, 0, 1, 2), {.x = "row_major", .y = "row_major"});
  check(planar(1, 33, 1, 1, {9, 9}, {7, 7}, 3), {.type = DataType_t::HALF});
}

TEST(CpuConv, OneAndThreeDimensions) {
  check(planar(2, 1, 5, 19, {40}, {5}, 2));
  check(planar(1, 1, 3, 9, {1200}, {5}, 2, 2));
  check(planar(2, 2, 3, 9, {4, 5, 6}, {3, 2, 3}, 1));
  check(planar(1, 1, 3, 9, {5, 6, 7}, {2, 3, 3}, 1, 2, 2), {.x = "row_major", .w = "row_major"});
}

TEST(CpuConv, Types) {
  for (DataType_t type : {DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::DOUBLE}) {
    check(planar(2, 1, 5, 19, {9, 11}, {3, 3}, 1), {.type = type, .result = type});
    check(planar(2, 1, 8, 16, {9, 11}, {1, 1}), {.type = type, .result = type});
  }
  for (DataType_t type : {DataType_t::INT8, DataType_t::UINT8})
    check(planar(2, 1, 5, 19, {9, 11}, {3, 3}, 1),
          {.type = type, .result = DataType_t::INT32, .compute = DataType_t::INT32});
  check(planar(2, 1, 5, 19, {5, 4}, {3, 3}, 1), {.type = DataType_t::INT32,
                                                 .result = DataType_t::INT64,
                                                 .compute = DataType_t::INT64,
                                                 .only_generic = true});
}

TEST(CpuConv, WhatLiesOutsideIsNotMultiplied) {
  check(planar(1, 1, 5, 19, {6, 7}, {3, 3}, 1), {.has_special_filter = true});
  check(planar(1, 1, 5, 19, {6, 7}, {3, 3}, 1, 2, 2), {.has_special_filter = true});
  check(planar(1, 9, 1, 1, {6, 7}, {3, 3}, 1), {.has_special_filter = true});
}

TEST(CpuConv, Empty) {
  check(planar(0, 1, 5, 19, {9, 11}, {3, 3}, 1));
}

/// X's prologue, bias, ReLU, a stored intermediate and sums over channels and over pixels.
void check_fused(const Convolution& c, const std::string& layout) {
  GroupBuilder builder;
  const Dims y_dims = c.y_dims();
  const int64_t channels = y_dims[1], pixels = product(y_dims) / y_dims[0] / channels;
  const Values x = random_values(product(c.x_dims()), 1), w = random_values(product(c.w_dims()), 2);
  const Values bias = random_values(channels, 3);
  Values shifted = x;
  for (double& value : shifted) value = value * value;
  Values y = convolve(c, shifted, w);
  Values relu = y, per_channel(static_cast<size_t>(channels), 0);
  Values per_image(static_cast<size_t>(y_dims[0]), 0), per_pixel;
  for (size_t i = 0; i < y.size(); ++i) {
    const auto channel = i / static_cast<size_t>(pixels) % static_cast<size_t>(channels);
    relu[i] = std::max(y[i] + bias[channel], 0.0);
    per_channel[channel] += relu[i];
    auto& most = per_image[i / static_cast<size_t>(pixels * channels)];
    most = std::max(most, relu[i]);
  }
  const auto tx = builder.stored("X", DataType_t::FLOAT, c.x_dims(), layout);
  const auto vx = builder.virtual_tensor(DataType_t::FLOAT, c.x_dims());
  const auto tw = builder.stored("W", DataType_t::FLOAT, c.w_dims(), layout);
  const auto ty = builder.stored("Y", DataType_t::FLOAT, y_dims, layout);
  Dims channel_dims(y_dims.size(), 1), image_dims(y_dims.size(), 1);
  channel_dims[1] = channels;
  image_dims[0] = y_dims[0];
  const auto tb = builder.stored("bias", DataType_t::FLOAT, channel_dims);
  const auto vb = builder.virtual_tensor(DataType_t::FLOAT, y_dims);
  const auto tr = builder.stored("relu", DataType_t::FLOAT, y_dims, "padded");
  const auto sums = builder.stored("channel sums", DataType_t::FLOAT, channel_dims);
  const auto most = builder.stored("image maxima", DataType_t::FLOAT, image_dims);
  builder.anchor(AnchorKind::kContraction, attributes(c), {vx, tw}, {ty});
  builder.begin_prologue(0);
  const int vx_loaded = builder.load(tx);
  builder.pointwise(PointwiseMode_t::MUL, {vx_loaded, vx_loaded}, vx);
  builder.begin_epilogue(ty);
  const int anchor = builder.anchor_value();
  builder.store(anchor);
  const int sum = builder.pointwise(PointwiseMode_t::ADD, {anchor, builder.load(tb)}, vb);
  const int out = builder.pointwise(PointwiseMode_t::RELU_FWD, {sum}, tr);
  builder.store(out);
  builder.reduce(out, ReductionMode_t::ADD, sums);
  builder.reduce(out, ReductionMode_t::MAX, most);
  expect_engine_and_generic("cpu.conv", builder.build(), {{tx, x}, {tw, w}, {tb, bias}},
                            {{ty, y}, {tr, relu}, {sums, per_channel}, {most, per_image}}, 100);
}

TEST(CpuConv, FusedChain) {
  for (const char* layout : {"channels_last", "row_major"}) {
    check_fused(planar(3, 1, 5, 70, {9, 11}, {3, 3}, 1), layout);
    check_fused(planar(2, 3, 5, 7, {9, 11}, {3, 3}, 1, 2), layout);
    check_fused(planar(2, 1, 8, 16, {40, 40}, {1, 1}), layout);
    check_fused(planar(2, 9, 1, 1, {9, 11}, {3, 3}, 1), layout);
  }
}

/// conv -> bias -> ReLU: what the micro-kernels finish themselves.
void check_bias_relu(const Convolution& c, const std::string& result_layout,
                     bool has_special_filter = false) {
  SCOPED_TRACE(result_layout + ", outputs " + std::to_string(c.groups * c.outputs));
  GroupBuilder builder;
  const Dims y_dims = c.y_dims();
  const int64_t channels = y_dims[1], pixels = product(y_dims) / y_dims[0] / channels;
  const Values x = random_values(product(c.x_dims()), 1);
  Values w = random_values(product(c.w_dims()), 2);
  if (has_special_filter) w[0] = std::numeric_limits<double>::infinity();
  const Values bias = random_values(channels, 3);
  Values y = convolve(c, x, w);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] += bias[i / static_cast<size_t>(pixels) % static_cast<size_t>(channels)];
    if (y[i] < 0) y[i] = 0;  // NaN stays
  }
  Dims channel_dims(y_dims.size(), 1);
  channel_dims[1] = channels;
  const auto tx = builder.stored("X", DataType_t::FLOAT, c.x_dims(), "channels_last");
  const auto tw = builder.stored("W", DataType_t::FLOAT, c.w_dims(), "channels_last");
  const auto tb = builder.stored("bias", DataType_t::FLOAT, channel_dims);
  const auto sums = builder.virtual_tensor(DataType_t::FLOAT, y_dims);
  const auto added = builder.virtual_tensor(DataType_t::FLOAT, y_dims);
  const auto ty = builder.stored("Y", DataType_t::FLOAT, y_dims, result_layout);
  builder.anchor(AnchorKind::kContraction, attributes(c), {tx, tw}, {sums});
  builder.begin_epilogue(sums);
  const int sum =
      builder.pointwise(PointwiseMode_t::ADD, {builder.anchor_value(), builder.load(tb)}, added);
  builder.store(builder.pointwise(PointwiseMode_t::RELU_FWD, {sum}, ty));
  expect_engine("cpu.conv", builder.build(), {{tx, x}, {tw, w}, {tb, bias}}, {{ty, y}});
}

TEST(CpuConv, BiasAndRelu) {
  for (int64_t outputs : {1, 3, 8, 12, 16, 24, 32, 40, 64, 72})
    check_bias_relu(planar(2, 1, 3, outputs, {25, 17}, {3, 3}, 1), "channels_last");
  check_bias_relu(planar(1, 1, 3, 8, {120, 90}, {3, 3}, 1), "channels_last");
  check_bias_relu(planar(1, 1, 3, 8, {3, 700}, {3, 3}, 1), "channels_last");
  check_bias_relu(planar(2, 1, 16, 16, {25, 17}, {1, 1}), "channels_last");
  check_bias_relu(planar(2, 3, 4, 16, {25, 17}, {3, 3}, 1, 2), "channels_last");
  check_bias_relu(planar(2, 1, 3, 8, {25, 17}, {3, 3}, 1), "row_major");
  check_bias_relu(planar(2, 1, 3, 8, {25, 17}, {3, 3}, 1), "padded");
}

TEST(CpuConv, BiasAndReluWithInfiniteFilter) {
  for (int64_t outputs : {8, 12, 32, 40})
    check_bias_relu(planar(2, 1, 3, outputs, {9, 17}, {3, 3}, 1), "channels_last", true);
}

}  // namespace
}  // namespace warploom::test
