#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using namespace graph;
using enum DataType_t;

const Dims kDims{3, 2, 2, 3}, kChannels{1, 2, 1, 1};
constexpr double kEpsilon = 1e-3, kMomentum = 0.25;

TensorPtr per_channel(const char* name, DataType_t type = DOUBLE) {
  return input(name, kChannels, type);
}
std::vector<TensorPtr> outputs(size_t count, DataType_t type = DOUBLE) {
  std::vector<TensorPtr> all(count);
  for (TensorPtr& tensor : all) tensor = output(type);
  return all;
}
size_t channel_of(size_t i) {
  return i / 6 % 2;
}

struct Channel {
  double count = 0, sum = 0, sum_of_squares = 0, mean = 0, variance = 0;
};
std::vector<Channel> channels_of(const Values& x) {
  std::vector<Channel> channels(2);
  for (size_t i = 0; i < x.size(); ++i) {
    Channel& channel = channels[channel_of(i)];
    channel.count += 1;
    channel.sum += x[i];
    channel.sum_of_squares += x[i] * x[i];
  }
  for (Channel& channel : channels) channel.mean = channel.sum / channel.count;
  for (size_t i = 0; i < x.size(); ++i) {
    Channel& channel = channels[channel_of(i)];
    channel.variance += (x[i] - channel.mean) * (x[i] - channel.mean) / channel.count;
  }
  return channels;
}

TEST(Batchnorm, Training) {
  const Values x = random_values(36, 41);
  const auto found =
      run(with(Batchnorm_attributes(),
               {input("x", kDims, DOUBLE, {12, 1, 6, 2}), per_channel("scale"), per_channel("bias"),
                per_channel("running_mean"), per_channel("running_var"), input("eps", {1}, DOUBLE),
                input("momentum", {1}, DOUBLE)},
               outputs(5)),
          {x, {2, -1}, {0.5, 0}, {1, 2}, {3, 4}, {kEpsilon}, {kMomentum}});
  const auto channels = channels_of(x);
  for (size_t c = 0; c < 2; ++c) {
    const double inv = 1 / std::sqrt(channels[c].variance + kEpsilon);
    EXPECT_NEAR(found[1][c], channels[c].mean, 1e-14);
    EXPECT_NEAR(found[2][c], inv, 1e-12);
    EXPECT_NEAR(found[3][c], 0.75 * (c == 0 ? 1 : 2) + 0.25 * channels[c].mean, 1e-14);
    EXPECT_NEAR(found[4][c], 0.75 * (c == 0 ? 3 : 4) + 0.25 * channels[c].variance * 18 / 17,
                1e-14);
    for (size_t i = 0; i < x.size(); ++i) {
      if (channel_of(i) != c) continue;
      EXPECT_NEAR(found[0][i],
                  (x[i] - channels[c].mean) * inv * (c == 0 ? 2 : -1) + (c == 0 ? 0.5 : 0), 1e-12);
    }
  }
}

TEST(Batchnorm, Inference) {
  const Values x = random_values(36, 42);
  const Values y = run_one(with(Batchnorm_inference_attributes(),
                                {input("x", kDims, DOUBLE), per_channel("mean"), per_channel("inv"),
                                 per_channel("scale"), per_channel("bias")},
                                outputs(1)),
                           {x, {0.25, -1}, {2, 0.5}, {3, -2}, {1, 0}});
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(y[i], channel_of(i) == 0 ? (x[i] - 0.25) * 6 + 1 : -(x[i] + 1), 1e-14);
}

TEST(Genstats, SumsPerChannel) {
  const Values x = random_values(36, 43);
  const auto found =
      run(with(Genstats_attributes(), {input("x", kDims, DOUBLE, {12, 1, 6, 2})}, outputs(2)), {x});
  const auto channels = channels_of(x);
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(found[0][c], channels[c].sum, 1e-13);
    EXPECT_NEAR(found[1][c], channels[c].sum_of_squares, 1e-13);
  }
}

// Sums, finished, are what batchnorm does in one.
TEST(BnFinalize, FinishesWhatGenstatsBegan) {
  const Values x = random_values(36, 44);
  const auto channels = channels_of(x);
  const auto count = input("count", {1}, INT64);
  const auto found =
      run(with(BN_finalize_attributes(),
               {per_channel("sum"), per_channel("sq_sum"), per_channel("scale"),
                per_channel("bias"), input("eps", {1}, DOUBLE), count, per_channel("running_mean"),
                per_channel("running_var"), input("momentum", {1}, DOUBLE)},
               outputs(6)),
          {{channels[0].sum, channels[1].sum},
           {channels[0].sum_of_squares, channels[1].sum_of_squares},
           {2, -1},
           {0.5, 0},
           {kEpsilon},
           {18},
           {1, 2},
           {3, 4},
           {kMomentum}});
  for (size_t c = 0; c < 2; ++c) {
    const double inv = 1 / std::sqrt(channels[c].variance + kEpsilon);
    const double scale = c == 0 ? 2 : -1, bias = c == 0 ? 0.5 : 0;
    EXPECT_NEAR(found[0][c], scale * inv, 1e-12);
    EXPECT_NEAR(found[1][c], bias - channels[c].mean * scale * inv, 1e-12);
    EXPECT_NEAR(found[2][c], channels[c].mean, 1e-13);
    EXPECT_NEAR(found[3][c], inv, 1e-12);
    EXPECT_NEAR(found[4][c], 0.75 * (c == 0 ? 1 : 2) + 0.25 * channels[c].mean, 1e-13);
    EXPECT_NEAR(found[5][c], 0.75 * (c == 0 ? 3 : 4) + 0.25 * channels[c].variance * 18 / 17,
                1e-13);
  }
  // Cancellation leaves no negative variance.
  const auto equal = run(with(BN_finalize_attributes(),
                              {per_channel("sum"), per_channel("sq_sum"), per_channel("scale"),
                               per_channel("bias"), input("eps", {1}, DOUBLE), count},
                              outputs(4)),
                         {{0.3, 0.3}, {0.03 - 1e-17, std::nan("")}, {1, 1}, {0, 0}, {1e-2}, {3}});
  EXPECT_NEAR(equal[3][0], 10, 1e-9);
  EXPECT_TRUE(std::isnan(equal[3][1]));
}

TEST(BatchnormInference, Layouts) {
  auto all = outputs(3, FLOAT);
  expect_accepted(with(Batchnorm_attributes(),
                       {input("x", kDims, FLOAT, {12, 1, 6, 2}), per_channel("scale", FLOAT),
                        per_channel("bias", FLOAT), nullptr, nullptr, input("eps", {1})},
                       all));
  EXPECT_EQ(all[0]->get_stride(), (Dims{12, 1, 6, 2}));
  EXPECT_EQ(all[1]->get_dim(), kChannels);
  EXPECT_EQ(all[1]->get_stride(), (Dims{2, 1, 2, 2}));
}

TEST(BatchnormErrors, AreRefused) {
  const auto x = input("x", kDims), scale = per_channel("scale", FLOAT), eps = input("eps", {1});
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED;
  expect_refused(with(Batchnorm_attributes(), {x, scale}, outputs(3, FLOAT)),
                 error_code_t::ATTRIBUTE_NOT_SET, {"port BIAS"});
  expect_refused(
      with(Batchnorm_attributes(), {x, scale, scale, scale, nullptr, eps}, outputs(5, FLOAT)),
      error_code_t::ATTRIBUTE_NOT_SET, {"port PREV_RUNNING_VAR", "or none of them"});
  expect_refused(
      with(Batchnorm_attributes(), {x, scale, scale, scale, scale, eps, eps}, outputs(3, FLOAT)),
      error_code_t::ATTRIBUTE_NOT_SET, {"port NEXT_RUNNING_MEAN"});
  expect_refused(
      with(Batchnorm_attributes(), {x, input("s", {1, 3, 1, 1}), scale, nullptr, nullptr, eps},
           outputs(3, FLOAT)),
      shape, {"\"s\" (port SCALE), dim 1", "3 in [1, 3, 1, 1]", "1 or 2"});
  expect_refused(with(Batchnorm_attributes().set_peer_stats({x, x}),
                      {x, scale, scale, nullptr, nullptr, eps}, outputs(3, FLOAT)),
                 error_code_t::GRAPH_NOT_SUPPORTED, {"field peer_stats", "2 peers", "at most 1"});
  expect_refused(with(Genstats_attributes(), {input("x", {4})}, outputs(2, FLOAT)), shape,
                 {"1 dims", "2 or more"});
}

}  // namespace
}  // namespace warploom::test
