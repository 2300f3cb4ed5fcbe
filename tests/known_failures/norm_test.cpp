// Failures known of other libraries' normalizations; README.md says where each comes from.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/describe.h"
#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

using namespace graph;
using enum DataType_t;

constexpr float kEpsilon = 1e-5f;

struct Row {
  double mean = 0, inv_variance = 0;
};

/// Of elements first, first + step, ... of x.
Row row_of(const Values& x, int64_t first, int64_t step, int64_t count, bool is_centered = true) {
  Row row;
  double variance = 0;
  const auto value = [&](int64_t i) { return x[static_cast<size_t>(first + i * step)]; };
  for (int64_t i = 0; is_centered && i < count; ++i)
    row.mean += value(i) / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i)
    variance += (value(i) - row.mean) * (value(i) - row.mean) / static_cast<double>(count);
  row.inv_variance = 1 / std::sqrt(variance + kEpsilon);
  return row;
}

Layernorm_attributes layernorm(NormFwdPhase_t phase = NormFwdPhase_t::INFERENCE) {
  return Layernorm_attributes().set_name("norm").set_forward_phase(phase).set_epsilon(kEpsilon);
}

TEST(KnownFailures, B113_LargeMeans) {
  for (const double mean : {0, 100, 1000, 10000}) {
    Graph graph = describe();
    const auto x = input(graph, "X", {1, 16}), scale = input(graph, "scale", {1, 16}),
               bias = input(graph, "bias", {1, 16});
    const auto y = graph.layernorm(x, scale, bias, layernorm())[0];
    output(y);
    Values values, expected;
    for (int i = 0; i < 16; ++i)
      values.push_back(static_cast<float>(mean) + static_cast<float>(i) * 1e-3f);
    const Row row = row_of(values, 0, 1, 16);
    for (double value : values) expected.push_back((value - row.mean) * row.inv_variance);
    expect_every_plan(graph, {{x, values}, {scale, Values(16, 1.0)}, {bias, Values(16, 0.0)}},
                      {{y, expected, Tolerance{.relative = 1e-6, .absolute = 1e-6}}});
    if (mean == 10000) {
      EXPECT_NEAR(expected[0], -1.3313, 1e-4);
      EXPECT_NEAR(expected[15], 1.3313, 1e-4);
    }
  }
}

TEST(KnownFailures, B116_MagnitudesWhoseSquareOverflows) {
  Graph graph = describe();
  const Dims dims{2, 37};
  const auto x = input(graph, "X", dims), scale = input(graph, "scale", {1, 37}),
             bias = input(graph, "bias", {1, 37});
  const auto [y, mean, inv] = graph.layernorm(x, scale, bias, layernorm(NormFwdPhase_t::TRAINING));
  for (const auto& tensor : {y, mean, inv}) output(tensor);
  Values values = random_values(dims, FLOAT, 3);
  for (double& value : values) value = static_cast<float>(value * 1e30);
  Values expected, means, invs;
  for (int64_t i = 0; i < 2; ++i) {
    const Row row = row_of(values, i * 37, 1, 37);
    for (int64_t j = 0; j < 37; ++j)
      expected.push_back((values[static_cast<size_t>(i * 37 + j)] - row.mean) * row.inv_variance);
    means.push_back(row.mean);
    invs.push_back(row.inv_variance);
  }
  expect_every_plan(graph, {{x, values}, {scale, Values(37, 1.0)}, {bias, Values(37, 0.0)}},
                    {{y, expected}, {mean, means}, {inv, invs}});
}

TEST(KnownFailures, B117_ScalesOverTwoDims) {
  const Dims dims{5, 8, 96};
  for (const bool is_over_two : {true, false})
    for (const bool is_centered : {true, false}) {
      Graph graph = describe();
      const Dims scale_dims = is_over_two ? Dims{8, 96} : Dims{96};
      const int64_t length = is_over_two ? 8 * 96 : 96;
      const auto x = input(graph, "X", dims), scale = input(graph, "scale", scale_dims),
                 bias = input(graph, "bias", scale_dims);
      const auto y = is_centered ? graph.layernorm(x, scale, bias, layernorm())[0]
                                 : graph.rmsnorm(x, scale,
                                                 Rmsnorm_attributes()
                                                     .set_forward_phase(NormFwdPhase_t::INFERENCE)
                                                     .set_bias(bias)
                                                     .set_epsilon(kEpsilon))[0];
      output(y);
      const Values values = random_values(dims, FLOAT, 4),
                   factors = random_values(scale_dims, FLOAT, 5),
                   offsets = random_values(scale_dims, FLOAT, 6);
      Values expected;
      for (int64_t i = 0; i < volume(dims); ++i) {
        const Row row = row_of(values, i / length * length, 1, length, is_centered);
        const auto at = static_cast<size_t>(i), place = static_cast<size_t>(i % length);
        expected.push_back((values[at] - row.mean) * row.inv_variance * factors[place] +
                           offsets[place]);
      }
      expect_every_plan(graph, {{x, values}, {scale, factors}, {bias, offsets}}, {{y, expected}});
    }
}

// Also B120, with as many images of one pixel as a batch may have.
TEST(KnownFailures, B118_B120_BatchNorm) {
  for (const Dims& dims : {Dims{4, 35, 6, 6}, Dims{65537, 2, 1, 1}, Dims{131070, 1}})
    for (const char* layout : {"row_major", "channels_last"})
      for (const DataType_t type : {HALF, FLOAT}) {
        if (type == FLOAT && dims[0] > 4) continue;
        Graph graph = describe(type);
        Dims channels(dims.size(), 1);
        channels[1] = dims[1];
        const auto x = input(graph, "X", dims, layout);
        const auto scale = input(graph, "scale", channels, "row_major", FLOAT),
                   bias = input(graph, "bias", channels, "row_major", FLOAT);
        const auto [y, mean, inv, next_mean, next_var] = graph.batchnorm(
            x, scale, bias,
            Batchnorm_attributes().set_epsilon(graph.tensor(kEpsilon, ScalarType::RUNTIME_PARAM)));
        EXPECT_EQ(next_mean, nullptr);
        EXPECT_EQ(next_var, nullptr);
        const auto inference =
            graph.batchnorm_inference(x, mean, inv, scale, bias, Batchnorm_inference_attributes());
        output(y);
        output(inference);
        output(mean, {}, "", FLOAT);
        output(inv, {}, "", FLOAT);
        const int64_t pixels = volume(dims) / dims[0] / dims[1], images = dims[0];
        const Values values = random_values(dims, type, 7, 0, 4),
                     factors = random_values(channels, FLOAT, 8),
                     offsets = random_values(channels, FLOAT, 9);
        Values expected(values.size()), means, invs;
        for (int64_t c = 0; c < dims[1]; ++c) {
          Values channel;
          for (int64_t n = 0; n < images; ++n)
            for (int64_t p = 0; p < pixels; ++p)
              channel.push_back(values[static_cast<size_t>((n * dims[1] + c) * pixels + p)]);
          const Row row = row_of(channel, 0, 1, static_cast<int64_t>(channel.size()));
          means.push_back(row.mean);
          invs.push_back(row.inv_variance);
          for (int64_t n = 0, k = 0; n < images; ++n)
            for (int64_t p = 0; p < pixels; ++p, ++k)
              expected[static_cast<size_t>((n * dims[1] + c) * pixels + p)] =
                  (channel[static_cast<size_t>(k)] - row.mean) * row.inv_variance *
                      factors[static_cast<size_t>(c)] +
                  offsets[static_cast<size_t>(c)];
        }
        expect_every_plan(graph, {{x, values}, {scale, factors}, {bias, offsets}},
                          {{y, expected}, {inference, expected}, {mean, means}, {inv, invs}});
      }
}

TEST(KnownFailures, B122_LayernormWithReluAndItsMask) {
  Graph graph = describe();
  const Dims dims{6, 33};
  const auto x = input(graph, "X", dims), scale = input(graph, "scale", {1, 33}),
             bias = input(graph, "bias", {1, 33}), residual = input(graph, "residual", dims),
             dy = input(graph, "dY", dims);
  const auto zero = graph.tensor(0.0f, ScalarType::RUNTIME_PARAM);
  const auto [y, mean, inv] = graph.layernorm(x, scale, bias, layernorm(NormFwdPhase_t::TRAINING));
  const auto sum = graph.pointwise(y, residual, pointwise(PointwiseMode_t::ADD));
  const auto z = graph.pointwise(sum, pointwise(PointwiseMode_t::RELU_FWD));
  const auto mask = graph.pointwise(sum, zero, pointwise(PointwiseMode_t::CMP_GT));
  const auto masked = graph.pointwise(dy, mask, pointwise(PointwiseMode_t::MUL));
  const auto [dx, dscale, dbias] = graph.layernorm_backward(
      masked, x, scale, Layernorm_backward_attributes().set_saved_mean_and_inv_variance(mean, inv));
  output(z);
  output(mask, {}, "", BOOLEAN);
  for (const auto& tensor : {dx, dscale, dbias}) output(tensor);

  const Values xs = random_values(dims, FLOAT, 1), gs = random_values({33}, FLOAT, 2),
               bs = random_values({33}, FLOAT, 3), rs = random_values(dims, FLOAT, 4),
               dys = random_values(dims, FLOAT, 5);
  Values zs, masks, dxs(xs.size()), dgs(33, 0.0), dbs(33, 0.0);
  for (int64_t i = 0; i < 6; ++i) {
    const Row row = row_of(xs, i * 33, 1, 33);
    Values n(33), g(33);
    double average_g = 0, average_gn = 0;
    for (int64_t j = 0; j < 33; ++j) {
      const auto at = static_cast<size_t>(i * 33 + j), k = static_cast<size_t>(j);
      n[k] = (xs[at] - row.mean) * row.inv_variance;
      const double value = n[k] * gs[k] + bs[k] + rs[at];
      zs.push_back(std::max(value, 0.0));
      masks.push_back(value > 0 ? 1 : 0);
      const double gradient = value > 0 ? dys[at] : 0;
      g[k] = gradient * gs[k];
      dgs[k] += gradient * n[k];
      dbs[k] += gradient;
      average_g += g[k] / 33;
      average_gn += g[k] * n[k] / 33;
    }
    for (size_t k = 0; k < 33; ++k)
      dxs[static_cast<size_t>(i) * 33 + k] =
          row.inv_variance * (g[k] - average_g - n[k] * average_gn);
  }
  expect_every_plan(graph, {{x, xs}, {scale, gs}, {bias, bs}, {residual, rs}, {dy, dys}},
                    {{z, zs}, {mask, masks}, {dx, dxs}, {dscale, dgs}, {dbias, dbs}});
}

TEST(KnownFailures, B123_HiddenSizes) {
  for (const int64_t hidden : {1, 3, 256})
    for (const int64_t rows : {64, 65536}) {
      if (rows * hidden > 200000) continue;
      Graph graph = describe();
      const Dims dims{rows, hidden};
      const auto x = input(graph, "X", dims), scale = input(graph, "scale", {1, hidden});
      const auto y = graph.rmsnorm(x, scale,
                                   Rmsnorm_attributes()
                                       .set_forward_phase(NormFwdPhase_t::INFERENCE)
                                       .set_epsilon(kEpsilon))[0];
      output(y);
      const Values values = random_values(dims, FLOAT, 1),
                   factors = random_values({hidden}, FLOAT, 2);
      Values expected;
      for (int64_t i = 0; i < rows * hidden; ++i) {
        // With a scale of dim 1 nothing is averaged, and so is an axis of one element.
        const Row row = row_of(values, i / hidden * hidden, 1, hidden, false);
        expected.push_back(values[static_cast<size_t>(i)] * row.inv_variance *
                           factors[static_cast<size_t>(i % hidden)]);
      }
      expect_every_plan(graph, {{x, values}, {scale, factors}}, {{y, expected}});
    }
}

}  // namespace
}  // namespace warploom::test
