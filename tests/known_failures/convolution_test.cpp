// Failures known of other libraries' convolutions; README.md says where each comes from.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/element.h"
#include "known_failures/convolution_problem.h"

namespace warploom::test {
namespace {

using enum DataType_t;

ConvolutionProblem asymmetric(int64_t size) {
  ConvolutionProblem p;
  p.channels = 32;
  p.height = p.width = size;
  p.filters = 64;
  p.set_window(3);
  p.stride = {2, 2};
  p.pre = {1, 1};
  p.post = {0, 0};
  return p;
}

TEST(KnownFailures, B61_AsymmetricPadding) {
  for (const auto& [type, layout] : {std::pair{FLOAT, "row_major"}, {HALF, "channels_last"}}) {
    ConvolutionProblem p = asymmetric(26);
    p.type = type;
    p.layout = layout;
    p.randomise();
    EXPECT_EQ(p.dims_y(), (Dims{1, 64, 13, 13}));
    check_convolution(p);
  }
}

TEST(KnownFailuresLong, B61_AsymmetricPaddingAtFullSize) {
  for (const auto& [type, layout] : {std::pair{FLOAT, "row_major"}, {HALF, "channels_last"}}) {
    ConvolutionProblem p = asymmetric(416);
    p.type = type;
    p.layout = layout;
    p.randomise();
    graph::Graph graph = describe(type);
    const auto [x, w, y] = add_convolution(graph, p);
    output(y);
    expect_first_plan(graph, {{x, p.x}, {w, p.w}}, {{y, convolution_by_loops(p)}});
  }
}

TEST(KnownFailures, B62_ChannelsThatFillNoVector) {
  for (const int64_t channels : {208, 209}) {
    ConvolutionProblem p;
    p.channels = p.filters = channels;
    p.height = p.width = 2;
    p.set_window(3);
    p.stride = {2, 2};
    p.set_padding(1);
    p.randomise();
    check_convolution(p);
  }
}

TEST(KnownFailures, B63_ConvolutionAndReluOfThreeChannels) {
  ConvolutionProblem p;
  p.images = 4;
  p.channels = 3;
  p.height = p.width = 14;
  p.filters = 10;
  p.set_window(5);
  p.randomise();
  graph::Graph graph = describe();
  const auto [x, w, y] = add_convolution(graph, p);
  const auto relu = graph.pointwise(y, pointwise(PointwiseMode_t::RELU_FWD));
  output(relu);
  Values expected = convolution_by_loops(p);
  for (double& value : expected) value = std::max(value, 0.0);
  expect_every_plan(graph, {{x, p.x}, {w, p.w}}, {{relu, expected}});
}

TEST(KnownFailures, B64_OddChannelCounts) {
  for (const int64_t channels : {1, 3, 5, 7, 9}) {
    for (const int64_t filters : {1, 2, 5, 33}) {
      ConvolutionProblem p;
      p.images = 2;
      p.channels = channels;
      p.filters = filters;
      p.height = 6;
      p.width = 7;
      p.set_window(3);
      p.set_padding(1);
      p.type = filters % 2 ? HALF : BFLOAT16;
      p.layout = "channels_last";
      p.randomise();
      check_convolution(p);
    }
  }
}

// The window does not fit into the image: an error that names the spatial dimension.
TEST(KnownFailures, B69_OutputOfNegativeSize) {
  ConvolutionProblem dilated;
  dilated.height = dilated.width = 4;
  dilated.set_window(3);
  dilated.stride = dilated.dilation = {2, 2};
  ConvolutionProblem tall;
  tall.height = tall.width = 3;
  tall.window_height = 5;
  tall.window_width = 3;
  for (const ConvolutionProblem& p : {dilated, tall}) {
    graph::Graph graph = describe();
    output(add_convolution(graph, p).y);
    const error_t error = graph.validate();
    EXPECT_EQ(error.get_code(), error_code_t::SHAPE_DEDUCTION_FAILED) << error;
    EXPECT_NE(error.get_message().find("conv"), std::string::npos) << error;
    EXPECT_NE(error.get_message().find("spatial dim"), std::string::npos) << error;
  }
}

TEST(KnownFailures, B70_ImagesWithoutRows) {
  ConvolutionProblem p;
  p.images = 2;
  p.channels = 32;
  p.height = 0;
  p.width = 5;
  p.filters = 32;
  p.set_window(2);
  p.set_padding(1);
  p.randomise();
  EXPECT_EQ(p.dims_y(), (Dims{2, 32, 1, 6}));
  graph::Graph graph = describe();
  const auto [x, w, y] = add_convolution(graph, p);
  const auto bias = input(graph, "bias", {1, 32, 1, 1});
  const auto sum = graph.pointwise(y, bias, pointwise(PointwiseMode_t::ADD));
  output(sum);
  const Values bias_values = random_values({32}, FLOAT, 7);
  expect_every_plan(graph, {{x, p.x}, {w, p.w}, {bias, bias_values}},
                    {{sum, generate(p.dims_y(), [&](const Dims& at) {
                        return bias_values[static_cast<size_t>(at[1])];
                      })}});
}

TEST(KnownFailures, B67_PixelsThatNoWindowReads) {
  for (const auto& [stride, dilation, window, padding] :
       {std::array<int64_t, 4>{2, 2, 3, 2}, std::array<int64_t, 4>{3, 1, 2, 0}})
    for (const auto& [type, layout] : {std::pair{FLOAT, "row_major"}, {HALF, "channels_last"}}) {
      ConvolutionProblem p;
      p.images = 2;
      p.channels = 16;
      p.height = 13;
      p.width = 14;
      p.filters = 8;
      p.set_window(window);
      p.set_padding(padding);
      p.stride = {stride, stride};
      p.dilation = {dilation, dilation};
      p.type = type;
      p.layout = layout;
      p.randomise();
      check_gradients(p);
    }
}

TEST(KnownFailures, B70_GradientsOfImagesWithoutRows) {
  ConvolutionProblem p;
  p.images = 2;
  p.channels = 32;
  p.height = 0;
  p.width = 5;
  p.filters = 32;
  p.set_window(2);
  p.set_padding(1);
  p.randomise();
  check_gradients(p);
}

// The window is the image: each gradient is a product of matrices.
TEST(KnownFailures, B81_PatchesEmbedded) {
  for (DataType_t type : {FLOAT, BFLOAT16}) {
    ConvolutionProblem p;
    p.images = 37;
    p.channels = 6;
    p.height = p.width = p.window_height = p.window_width = 7;
    p.filters = 20;
    p.stride = {7, 7};
    p.type = type;
    p.randomise();
    check_convolution(p);
    check_gradients(p);
  }
}

TEST(KnownFailures, B73_Depthwise) {
  for (const int64_t multiplier : {1, 2}) {
    for (const int64_t window : {3, 5, 7}) {
      for (const int64_t stride : {1, 2}) {
        ConvolutionProblem p;
        p.channels = p.groups = 20;
        p.filters = 20 * multiplier;
        p.height = 10;
        p.width = 9;
        p.set_window(window);
        p.set_padding(window / 2);
        p.stride = {stride, stride};
        p.type = BFLOAT16;
        p.layout = "channels_last";
        p.randomise();
        check_convolution(p);
      }
    }
  }
}

TEST(KnownFailures, B75_PaddingColumnsOfBytes) {
  ConvolutionProblem p;
  p.channels = 16;
  p.height = 16;
  p.width = 64;
  p.filters = 16;
  p.window_width = 4;
  p.pre = {0, 1};
  p.post = {0, 2};
  p.type = INT8;
  p.compute = p.output = INT32;
  p.layout = "channels_last";
  p.randomise();
  EXPECT_EQ(p.dims_y(), (Dims{1, 16, 16, 64}));
  check_convolution(p);
}

// The scale and the residual come before the one rounding and the one saturation.
TEST(KnownFailures, B76_SaturatesOnceAfterScaleAndResidual) {
  ConvolutionProblem grouped;
  grouped.groups = 4;
  grouped.channels = grouped.filters = 20;
  grouped.height = grouped.width = 5;
  grouped.set_window(3);
  grouped.set_padding(1);
  ConvolutionProblem wide;
  wide.channels = wide.filters = 32;
  wide.height = 4;
  wide.width = 149;
  wide.set_window(3);
  for (ConvolutionProblem p : {grouped, wide}) {
    p.type = INT8;
    p.compute = INT32;
    p.layout = "channels_last";
    p.x = random_integers(p.dims_x(), 1, -3, 3);
    p.w = random_integers(p.dims_w(), 2, -3, 3);
    graph::Graph graph = describe(INT8);
    const auto [x, w, y] = add_convolution(graph, p);
    y->set_data_type(INT32);
    const auto residual = input(graph, "residual", p.dims_y(), "channels_last");
    const auto scaled = graph.pointwise(y, graph.tensor(2.0f), pointwise(PointwiseMode_t::MUL));
    const auto sum = graph.pointwise(scaled, residual, pointwise(PointwiseMode_t::ADD));
    output(sum);
    const Values residual_values = random_integers(p.dims_y(), 3, -128, 127);
    Values expected = convolution_by_loops(p);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = round_to(2 * expected[i] + residual_values[i], INT8);
    expect_every_plan(graph, {{x, p.x}, {w, p.w}, {residual, residual_values}}, {{sum, expected}});
  }
}

TEST(KnownFailures, B78_BytesInIntegersOut) {
  for (const auto type : {INT8, UINT8}) {
    for (const char* layout : {"row_major", "channels_last"}) {
      ConvolutionProblem p;
      p.images = 2;
      p.channels = 13;
      p.filters = 18;
      p.height = p.width = 8;
      p.set_window(3);
      p.type = type;
      p.compute = p.output = INT32;
      p.layout = layout;
      p.randomise();
      check_convolution(p);
    }
  }
}

// An edge filter on the edge it looks for: every product is 0 x 1. Transform algorithms give -0.17.
TEST(KnownFailures, B85_ExactlyZero) {
  const auto is_one = [](const Dims& at) { return at[2] >= 2 && at[3] >= 2; };
  for (const int64_t channels : {32, 320, 640}) {
    ConvolutionProblem p;
    p.channels = channels;
    p.height = p.width = 5;
    p.set_window(5);
    p.x = generate(p.dims_x(), [&](const Dims& at) { return is_one(at) ? 1.0 : 0.0; });
    p.w = generate(p.dims_w(), [&](const Dims& at) { return is_one(at) ? 0.0 : 1.0; });
    graph::Graph graph = describe();
    const auto [x, w, y] = add_convolution(graph, p);
    output(y);
    expect_every_plan(graph, {{x, p.x}, {w, p.w}}, {{y, {0.0}, Tolerance::exact()}});
  }
}

TEST(KnownFailures, B85_NeverNegative) {
  ConvolutionProblem p;
  p.channels = 8;
  p.height = p.width = 20;
  p.set_window(5);
  p.x = random_values(p.dims_x(), FLOAT, 1, 0, 1);
  for (size_t i = 0; i < p.x.size(); ++i)
    if (i % 3) p.x[i] = 0;
  p.w = Values(static_cast<size_t>(volume(p.dims_w())), 1.0);
  check_convolution(p);
  // Where the window sees zeros alone, the sum is 0.
  std::fill(p.x.begin(), p.x.end(), 0.0);
  p.x.back() = 1e-30;
  graph::Graph graph = describe();
  const auto [x, w, y] = add_convolution(graph, p);
  output(y);
  expect_every_plan(graph, {{x, p.x}, {w, p.w}},
                    {{y, convolution_by_loops(p), Tolerance{1e-6, 0}}});
}

// No output is below 0, whatever the bias' length; the runner also offsets every pointer by one
// element.
TEST(KnownFailures, B88_ReluOfEveryOutput) {
  for (const auto type : {FLOAT, HALF}) {
    ConvolutionProblem p;
    p.images = 2;
    p.channels = 8;
    p.height = 40;
    p.width = 37;
    p.filters = 13;
    p.set_window(3);
    p.set_padding(1);
    p.type = type;
    p.layout = "channels_last";
    p.randomise();
    graph::Graph graph = describe(type);
    const auto [x, w, y] = add_convolution(graph, p);
    const auto bias = input(graph, "bias", {1, 13, 1, 1});
    const auto biased = graph.pointwise(y, bias, pointwise(PointwiseMode_t::ADD));
    const auto relu = graph.pointwise(biased, pointwise(PointwiseMode_t::RELU_FWD));
    output(relu);
    const Values bias_values = random_values({13}, type, 7);
    const Values sums = convolution_by_loops(p);
    const View at_sums(sums, p.dims_y());
    expect_every_plan(graph, {{x, p.x}, {w, p.w}, {bias, bias_values}},
                      {{relu, generate(p.dims_y(), [&](const Dims& at) {
                          return std::max(0.0, at_sums(at[0], at[1], at[2], at[3]) +
                                                   bias_values[static_cast<size_t>(at[1])]);
                        })}});
  }
}

// The first image of a batch gives the same bits in a batch of any size.
TEST(KnownFailures, B89_BitsDoNotDependOnTheBatch) {
  for (const auto type : {FLOAT, HALF}) {
    Values first;
    for (const int64_t images : {1, 2, 3, 4, 8}) {
      ConvolutionProblem p;
      p.images = images;
      p.channels = 24;
      p.height = p.width = 14;
      p.filters = 40;
      p.set_window(3);
      p.set_padding(1);
      p.type = type;
      p.layout = "channels_last";
      p.randomise();  // the first image comes first in the sequence: it is the same in all
      graph::Graph graph = describe(type);
      const auto [x, w, y] = add_convolution(graph, p);
      p.w = random_values(p.dims_w(), type, 99);
      output(y);
      ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
      const PlanRun run =
          run_plan(graph, cpu(), 0, {{x->get_uid(), p.x}, {w->get_uid(), p.w}}, {y->get_uid()});
      ASSERT_TRUE(run.error.is_good()) << run.error;
      Values image = run.outputs.at(y->get_uid());
      image.resize(image.size() / static_cast<size_t>(images));
      if (images == 1) first = image;
      EXPECT_EQ(compare(image, first, Tolerance::exact()), "") << "in a batch of " << images;
    }
  }
}

TEST(KnownFailures, B90_SixChannels) {
  for (const int64_t groups : {1, 2, 3}) {
    for (const int64_t filters : {6, 12, 30}) {
      for (const int64_t window : {1, 3}) {
        ConvolutionProblem p;
        p.images = 2;
        p.channels = 6;
        p.groups = groups;
        p.filters = filters;
        p.height = 9;
        p.width = 10;
        p.set_window(window);
        p.set_padding(window / 2);
        p.randomise();
        check_convolution(p);
      }
    }
  }
}

}  // namespace
}  // namespace warploom::test
