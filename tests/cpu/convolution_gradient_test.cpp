// conv_dgrad and conv_wgrad of cpu.conv against loops over the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "cpu/engine_runner.h"
#include "cpu/group_builder.h"

namespace warploom::test {
namespace {

using fusion::AnchorKind;
using enum DataType_t;

/// A convolution in one to three spatial dimensions.
struct Convolution {
  int64_t images = 1, groups = 1, channels = 1, filters = 1;  // of one group
  Dims image, window, stride, dilation, pre, post;
  bool flips = false;

  size_t axes() const { return image.size(); }
  int64_t extent(size_t i) const {
    return 1 + (image[i] + pre[i] + post[i] - dilation[i] * (window[i] - 1) - 1) / stride[i];
  }
  static Dims join(int64_t a, int64_t b, Dims rest) {
    rest.insert(rest.begin(), {a, b});
    return rest;
  }
  Dims x_dims() const { return join(images, groups * channels, image); }
  Dims w_dims() const { return join(groups * filters, channels, window); }
  Dims y_dims() const {
    Dims extents;
    for (size_t i = 0; i < axes(); ++i) extents.push_back(extent(i));
    return join(images, groups * filters, extents);
  }
};

int64_t product(const Dims& dims) {
  int64_t result = 1;
  for (int64_t dim : dims) result *= dim;
  return result;
}

bool advance(Dims& index, const Dims& dims) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

size_t flat(const Dims& index, const Dims& dims) {
  int64_t result = 0;
  for (size_t i = 0; i < dims.size(); ++i) result = result * dims[i] + index[i];
  return static_cast<size_t>(result);
}

/// Calls term(x, w, y), positions in row-major order, for every product that Y is a sum of.
template <class Term>
void for_each_term(const Convolution& c, Term&& term) {
  const Dims x_dims = c.x_dims(), w_dims = c.w_dims(), y_dims = c.y_dims();
  if (product(x_dims) == 0 || product(w_dims) == 0 || product(y_dims) == 0) return;
  Dims y(y_dims.size(), 0);
  do {
    Dims w(w_dims.size(), 0);
    w[0] = y[1];
    Dims tap(c.axes(), 0);
    do {
      Dims x = y;
      bool is_inside = true;
      for (size_t i = 0; i < c.axes(); ++i) {
        x[i + 2] = y[i + 2] * c.stride[i] + tap[i] * c.dilation[i] - c.pre[i];
        is_inside &= x[i + 2] >= 0 && x[i + 2] < c.image[i];
        w[i + 2] = c.flips ? c.window[i] - 1 - tap[i] : tap[i];
      }
      for (int64_t channel = 0; is_inside && channel < c.channels; ++channel) {
        x[1] = y[1] / c.filters * c.channels + channel;
        w[1] = channel;
        term(flat(x, x_dims), flat(w, w_dims), flat(y, y_dims));
      }
    } while (advance(tap, c.window));
  } while (advance(y, y_dims));
}

template <class Attributes>
Attributes attributes(const Convolution& c) {
  Attributes result;
  result.set_pre_padding(c.pre).set_post_padding(c.post).set_stride(c.stride);
  result.set_dilation(c.dilation);
  if (c.flips) result.set_convolution_mode(ConvolutionMode_t::CONVOLUTION);
  return result;
}

struct Options {
  std::string x = "channels_last", w = "channels_last", y = "channels_last";
  DataType_t type = FLOAT, result = FLOAT, compute = FLOAT;
  double special = 0;     // an infinity or NaN in the operand that padding meets
  bool is_large = false;  // too much for the fallback
};

void expect(const fusion::FusionGroup& group, const ValuesById& inputs, const ValuesById& expected,
            const Options& o) {
  if (o.is_large)
    expect_engine("cpu.conv", group, inputs, expected);
  else
    expect_engine_and_generic("cpu.conv", group, inputs, expected);
}

void check_image_gradient(const Convolution& c, const Options& o = {}) {
  SCOPED_TRACE("dgrad " + o.x + ", " + o.w + ", " + o.y + ", " + std::string(to_string(o.type)) +
               ", x " + testing::PrintToString(c.x_dims()) + ", w " +
               testing::PrintToString(c.w_dims()));
  const Values dy = rounded(random_values(product(c.y_dims()), 1), o.type);
  Values w = rounded(random_values(product(c.w_dims()), 2), o.type);
  if (o.special != 0 && !w.empty()) w[w.size() / 2] = o.special;
  Values dx(static_cast<size_t>(product(c.x_dims())));
  for_each_term(c, [&](size_t x_at, size_t w_at, size_t y_at) { dx[x_at] += w[w_at] * dy[y_at]; });
  GroupBuilder builder;
  const auto tdy = builder.stored("DY", o.type, c.y_dims(), o.y);
  const auto tw = builder.stored("W", o.type, c.w_dims(), o.w);
  const auto tdx = builder.stored("DX", o.result, c.x_dims(), o.x);
  builder.anchor(AnchorKind::kContraction, attributes<graph::Conv_dgrad_attributes>(c), {tdy, tw},
                 {tdx}, o.compute);
  builder.begin_epilogue(tdx);
  builder.store(builder.anchor_value());
  expect(builder.build(), {{tdy, dy}, {tw, w}}, {{tdx, rounded(dx, o.result)}}, o);
}

void check_filter_gradient(const Convolution& c, const Options& o = {}) {
  SCOPED_TRACE("wgrad " + o.x + ", " + o.w + ", " + o.y + ", " + std::string(to_string(o.type)) +
               ", x " + testing::PrintToString(c.x_dims()) + ", w " +
               testing::PrintToString(c.w_dims()));
  Values dy = rounded(random_values(product(c.y_dims()), 1), o.type);
  const Values x = rounded(random_values(product(c.x_dims()), 2), o.type);
  if (o.special != 0 && !dy.empty()) dy[0] = o.special;
  Values dw(static_cast<size_t>(product(c.w_dims())));
  for_each_term(c, [&](size_t x_at, size_t w_at, size_t y_at) { dw[w_at] += x[x_at] * dy[y_at]; });
  GroupBuilder builder;
  const auto tdy = builder.stored("DY", o.type, c.y_dims(), o.y);
  const auto tx = builder.stored("X", o.type, c.x_dims(), o.x);
  const auto tdw = builder.stored("DW", o.result, c.w_dims(), o.w);
  builder.anchor(AnchorKind::kContraction, attributes<graph::Conv_wgrad_attributes>(c), {tdy, tx},
                 {tdw}, o.compute);
  builder.begin_epilogue(tdw);
  builder.store(builder.anchor_value());
  expect(builder.build(), {{tdy, dy}, {tx, x}}, {{tdw, rounded(dw, o.result)}}, o);
}

void check(const Convolution& c, const Options& o = {}) {
  check_image_gradient(c, o);
  if (!testing::Test::HasFatalFailure()) check_filter_gradient(c, o);
}

Convolution planar(int64_t images, int64_t groups, int64_t channels, int64_t filters, Dims image,
                   Dims window, Dims pre, Dims post, Dims stride = {1, 1}, Dims dilation = {1, 1}) {
  return {images, groups, channels, filters, image, window, stride, dilation, pre, post};
}

const std::vector<Convolution>& shapes() {
  static const std::vector<Convolution> all{
      planar(2, 1, 3, 8, {9, 11}, {3, 3}, {1, 1}, {1, 1}),
      planar(1, 1, 19, 33, {8, 7}, {1, 1}, {0, 0}, {0, 0}),
      planar(2, 1, 16, 16, {9, 8}, {1, 1}, {0, 0}, {0, 0}, {2, 2}),
      planar(2, 1, 17, 7, {10, 12}, {3, 3}, {1, 1}, {0, 1}, {2, 2}),
      planar(1, 1, 5, 16, {13, 12}, {3, 2}, {2, 0}, {1, 3}, {1, 2}, {2, 3}),
      planar(2, 1, 4, 6, {11, 11}, {3, 3}, {2, 2}, {2, 2}, {2, 2}, {2, 2}),
      planar(1, 1, 4, 6, {11, 10}, {2, 2}, {0, 0}, {0, 0}, {3, 3}),  // pixels that nothing reads
      planar(1, 1, 3, 5, {12, 13}, {4, 5}, {3, 4}, {1, 0}, {3, 4}, {2, 3}),
      planar(1, 1, 2, 2, {4, 4}, {4, 4}, {0, 0}, {0, 0}),
      planar(1, 1, 3, 4, {3, 3}, {1, 1}, {2, 2}, {2, 2}),  // padding beyond the window
      planar(2, 3, 2, 4, {9, 8}, {3, 2}, {1, 1}, {1, 1}, {2, 1}),
      planar(1, 7, 1, 1, {6, 6}, {3, 3}, {1, 1}, {1, 1}),
      {2, 1, 3, 5, {20}, {4}, {2}, {1}, {1}, {2}},
      {1, 2, 3, 4, {5, 6, 7}, {3, 2, 3}, {1, 2, 1}, {2, 1, 1}, {2, 0, 1}, {2, 1, 1}},
  };
  return all;
}

TEST(CpuConvolutionGradient, Shapes) {
  for (Convolution c : shapes())
    for (bool flips : {false, true}) {
      c.flips = flips;
      const bool is_planar = c.axes() == 2;
      check(c, is_planar ? Options{} : Options{"row_major", "row_major", "row_major"});
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(CpuConvolutionGradient, LayoutsAndTypes) {
  for (size_t i : {0u, 3u, 4u, 10u}) {
    const Convolution& c = shapes()[i];
    check(c, {"row_major", "row_major", "row_major"});
    check(c, {"padded_channels_last", "reversed", "padded"});
    check(c, {"reversed", "padded", "padded_channels_last"});
    check(c, {.type = HALF, .result = HALF});
    check(c, {.type = BFLOAT16, .result = FLOAT});
    check(c, {.type = DOUBLE, .result = DOUBLE, .compute = DOUBLE});
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Several blocks, chunks and splits, with tails.
TEST(CpuConvolutionGradient, LargeOnes) {
  const Options large{.is_large = true};
  check(planar(3, 1, 70, 150, {19, 21}, {3, 3}, {1, 1}, {1, 1}), large);
  check(planar(3, 1, 130, 40, {22, 21}, {3, 3}, {1, 1}, {1, 1}, {2, 2}), large);
  check(planar(4, 1, 64, 70, {30, 29}, {1, 1}, {0, 0}, {0, 0}, {2, 2}), large);
  check(planar(1, 1, 6, 20, {3, 1100}, {3, 5}, {1, 2}, {1, 2}), large);
}

TEST(CpuConvolutionGradient, PaddingMeetsInfinityAndNan) {
  for (double special :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    for (size_t i : {0u, 3u, 4u, 10u}) check(shapes()[i], {.special = special});
}

TEST(CpuConvolutionGradient, OverNothing) {
  check(planar(0, 1, 3, 4, {5, 5}, {3, 3}, {1, 1}, {1, 1}));
  check(planar(2, 1, 3, 0, {5, 5}, {3, 3}, {1, 1}, {1, 1}));
}

// max(DX SCALE, 0) of DY times a mask, and the largest of it.
TEST(CpuConvolutionGradient, ImageGradientWithNeighbours) {
  for (size_t i : {0u, 2u, 3u}) {
    const Convolution& c = shapes()[i];
    const Values dy = random_values(product(c.y_dims()), 1),
                 w = random_values(product(c.w_dims()), 2);
    const Values mask = random_values(product(c.y_dims()), 3, 1, 1);
    const Values scale = random_values(c.groups * c.channels, 4);
    Values dx(static_cast<size_t>(product(c.x_dims())));
    for_each_term(c, [&](size_t x_at, size_t w_at, size_t y_at) {
      dx[x_at] += w[w_at] * dy[y_at] * mask[y_at];
    });
    double largest = 0;
    const auto pixels = static_cast<size_t>(product(c.image));
    for (size_t at = 0; at < dx.size(); ++at) {
      dx[at] = std::max(dx[at] * scale[at / pixels % scale.size()], 0.0);
      largest = std::max(largest, dx[at]);
    }
    GroupBuilder b;
    const auto tdy = b.stored("DY", FLOAT, c.y_dims(), "channels_last");
    const auto tw = b.stored("W", FLOAT, c.w_dims(), "channels_last");
    const auto tmask = b.stored("MASK", FLOAT, c.y_dims(), "row_major");
    const auto tscale = b.stored("SCALE", FLOAT, {1, c.groups * c.channels, 1, 1}, "row_major");
    const auto tdx = b.stored("DX", FLOAT, c.x_dims(), "channels_last");
    const auto tamax = b.stored("AMAX", FLOAT, {1, 1, 1, 1}, "row_major");
    const auto masked = b.virtual_tensor(FLOAT, c.y_dims());
    const auto gradient = b.virtual_tensor(FLOAT, c.x_dims());
    const auto scaled = b.virtual_tensor(FLOAT, c.x_dims());
    b.anchor(AnchorKind::kContraction, attributes<graph::Conv_dgrad_attributes>(c), {masked, tw},
             {gradient});
    b.begin_prologue(0);
    b.pointwise(PointwiseMode_t::MUL, {b.load(tdy), b.load(tmask)}, masked);
    b.begin_epilogue(tdx);
    const int product_of =
        b.pointwise(PointwiseMode_t::MUL, {b.anchor_value(), b.load(tscale)}, scaled);
    const int result = b.pointwise(PointwiseMode_t::RELU_FWD, {product_of}, tdx);
    b.store(result);
    b.reduce(result, ReductionMode_t::AMAX, tamax);
    expect_engine_and_generic("cpu.conv", b.build(),
                              {{tdy, dy}, {tw, w}, {tmask, mask}, {tscale, scale}},
                              {{tdx, dx}, {tamax, {largest}}});
  }
}

// X relu'd before, DW times a number after.
TEST(CpuConvolutionGradient, FilterGradientWithNeighbours) {
  for (size_t i : {0u, 3u}) {
    const Convolution& c = shapes()[i];
    const Values dy = random_values(product(c.y_dims()), 1),
                 x = random_values(product(c.x_dims()), 2);
    Values dw(static_cast<size_t>(product(c.w_dims())));
    for_each_term(c, [&](size_t x_at, size_t w_at, size_t y_at) {
      dw[w_at] += std::max(x[x_at], 0.0) * dy[y_at] * 0.5;
    });
    GroupBuilder b;
    const auto tdy = b.stored("DY", FLOAT, c.y_dims(), "channels_last");
    const auto tx = b.stored("X", FLOAT, c.x_dims(), "channels_last");
    const auto thalf = b.stored("HALF", FLOAT, {1, 1, 1, 1}, "row_major");
    const auto tdw = b.stored("DW", FLOAT, c.w_dims(), "channels_last");
    const auto active = b.virtual_tensor(FLOAT, c.x_dims());
    const auto gradient = b.virtual_tensor(FLOAT, c.w_dims());
    b.anchor(AnchorKind::kContraction, attributes<graph::Conv_wgrad_attributes>(c), {tdy, active},
             {gradient});
    b.begin_prologue(1);
    b.pointwise(PointwiseMode_t::RELU_FWD, {b.load(tx)}, active);
    b.begin_epilogue(tdw);
    b.store(b.pointwise(PointwiseMode_t::MUL, {b.anchor_value(), b.load(thalf)}, tdw));
    expect_engine_and_generic("cpu.conv", b.build(), {{tdy, dy}, {tx, x}, {thalf, {0.5}}},
                              {{tdw, dw}});
  }
}

}  // namespace
}  // namespace warploom::test
