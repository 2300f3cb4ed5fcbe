// Gradients of normalizations, against central differences of the forward operation in double.
#include <cmath>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using namespace graph;
using enum DataType_t;

constexpr double kEpsilon = 0.05;

/// A normalization of X by SCALE and BIAS, as a function of their values.
struct Problem {
  Dims x_dims, scale_dims, statistics_dims;
  Dims x_strides = {};
  bool has_bias = true;

  int64_t count(const Dims& dims) const {
    int64_t product = 1;
    for (int64_t dim : dims) product *= dim;
    return product;
  }
  TensorPtr tensor(const char* name, const Dims& dims, const Dims& strides = {}) const {
    return input(name, dims, DOUBLE, strides);
  }
};

/// {Y, MEAN, INV_VARIANCE} or, of rmsnorm, {Y, INV_VARIANCE}.
template <class Attributes>
std::vector<Values> forward(const Problem& problem, const Values& x, const Values& scale,
                            const Values& bias) {
  Attributes norm;
  std::vector<TensorPtr> outputs(std::size(Attributes::kOutputs));
  std::vector<TensorPtr> inputs(std::size(Attributes::kInputs));
  std::vector<Values> values(std::size(Attributes::kInputs));
  for (TensorPtr& tensor : outputs) tensor = output(DOUBLE);
  const auto set = [&](size_t port, const char* name, const Dims& dims, const Values& value) {
    inputs[port] = problem.tensor(name, dims, port == Attributes::X ? problem.x_strides : Dims{});
    values[port] = value;
  };
  set(Attributes::X, "x", problem.x_dims, x);
  set(Attributes::SCALE, "scale", problem.scale_dims, scale);
  if (problem.has_bias) set(Attributes::BIAS, "bias", problem.scale_dims, bias);
  set(Attributes::EPSILON, "epsilon", {1}, {kEpsilon});
  if constexpr (requires { norm.set_forward_phase(NormFwdPhase_t::TRAINING); })
    norm.set_forward_phase(NormFwdPhase_t::TRAINING);
  else
    outputs.resize(3);
  return run(with(norm, inputs, outputs), values);
}

/// The derivative of sum(dy Y) by every element of `values`.
template <class Forward>
Values central_differences(Values values, const Values& dy, Forward&& y_of) {
  constexpr double kStep = 1e-5;
  Values gradient;
  const auto loss = [&] {
    const Values y = y_of(values);
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
    return sum;
  };
  for (double& value : values) {
    const double middle = value;
    value = middle + kStep;
    const double above = loss();
    value = middle - kStep;
    const double below = loss();
    value = middle;
    gradient.push_back((above - below) / (2 * kStep));
  }
  return gradient;
}

struct Gradients {
  Values dx, dscale, dbias;
};

template <class Forward>
Gradients expected_gradients(const Problem& problem, const Values& dy, const Values& x,
                             const Values& scale, const Values& bias) {
  return {central_differences(
              x, dy, [&](const Values& v) { return forward<Forward>(problem, v, scale, bias)[0]; }),
          central_differences(
              scale, dy, [&](const Values& v) { return forward<Forward>(problem, x, v, bias)[0]; }),
          central_differences(bias, dy, [&](const Values& v) {
            return forward<Forward>(problem, x, scale, v)[0];
          })};
}

template <class Forward, class Backward>
void expect_gradients(const Problem& problem) {
  const Values x = random_values(problem.count(problem.x_dims), 21);
  const Values dy = random_values(problem.count(problem.x_dims), 22);
  const Values scale = random_values(problem.count(problem.scale_dims), 23);
  const Values bias = random_values(problem.count(problem.scale_dims), 24);
  const Gradients expected = expected_gradients<Forward>(problem, dy, x, scale, bias);
  const auto saved = forward<Forward>(problem, x, scale, bias);

  const auto check = [&](Backward norm, const std::vector<Values>& values,
                         std::vector<TensorPtr> inputs) {
    inputs[Backward::DY] = problem.tensor("dy", problem.x_dims);
    inputs[Backward::X] = problem.tensor("x", problem.x_dims, problem.x_strides);
    inputs[Backward::SCALE] = problem.tensor("scale", problem.scale_dims);
    auto all = values;
    all[Backward::DY] = dy, all[Backward::X] = x, all[Backward::SCALE] = scale;
    const auto found =
        run(with(norm, inputs, {output(DOUBLE), output(DOUBLE), output(DOUBLE)}), all);
    expect_near(found[0], expected.dx, 1e-8);
    expect_near(found[1], expected.dscale, 1e-8);
    expect_near(found[2], expected.dbias, 1e-8);
  };

  std::vector<TensorPtr> inputs(std::size(Backward::kInputs));
  std::vector<Values> values(std::size(Backward::kInputs));
  inputs[Backward::INV_VARIANCE] = problem.tensor("inv", problem.statistics_dims);
  values[Backward::INV_VARIANCE] = saved[Forward::INV_VARIANCE];
  if constexpr (requires { Backward::MEAN; }) {
    inputs[Backward::MEAN] = problem.tensor("mean", problem.statistics_dims);
    values[Backward::MEAN] = saved[1];
    check({}, values, inputs);
    // Without statistics they are computed.
    inputs[Backward::MEAN] = inputs[Backward::INV_VARIANCE] = nullptr;
    inputs[Backward::EPSILON] = problem.tensor("epsilon", {1});
    values[Backward::EPSILON] = {kEpsilon};
    check({}, values, inputs);
  } else {
    check(Backward().has_dbias(true), values, inputs);
  }
}

TEST(NormGradients, Layernorm) {
  using Forward = Layernorm_attributes;
  using Backward = Layernorm_backward_attributes;
  expect_gradients<Forward, Backward>({{3, 4}, {1, 4}, {3, 1}});
  expect_gradients<Forward, Backward>({{2, 3, 4}, {1, 1, 4}, {2, 3, 1}, {1, 2, 7}});
  expect_gradients<Forward, Backward>({{2, 3, 4}, {1, 3, 4}, {2, 1, 1}});
  expect_gradients<Forward, Backward>({{2, 3, 4}, {1, 3, 1}, {2, 1, 4}, {12, 1, 3}});
  expect_gradients<Forward, Backward>({{4, 1}, {1, 1}, {4, 1}});
}

TEST(NormGradients, Rmsnorm) {
  using Forward = Rmsnorm_attributes;
  using Backward = Rmsnorm_backward_attributes;
  expect_gradients<Forward, Backward>({{3, 4}, {1, 4}, {3, 1}});
  expect_gradients<Forward, Backward>({{2, 3, 4}, {1, 1, 4}, {2, 3, 1}, {1, 2, 7}});
  expect_gradients<Forward, Backward>({{2, 3, 4}, {1, 3, 4}, {2, 1, 1}});
}

TEST(NormGradients, Adalayernorm) {
  using Forward = AdaLayernorm_attributes;
  using Backward = AdaLayernorm_backward_attributes;
  expect_gradients<Forward, Backward>({{2, 3, 4}, {2, 1, 4}, {2, 3, 1}});
  expect_gradients<Forward, Backward>({{2, 3, 4}, {2, 3, 4}, {2, 1, 1}, {1, 2, 7}});
}

TEST(NormGradients, Instancenorm) {
  using Forward = Instancenorm_attributes;
  using Backward = Instancenorm_backward_attributes;
  expect_gradients<Forward, Backward>({{2, 3, 2, 2}, {1, 3, 1, 1}, {2, 3, 1, 1}, {12, 1, 6, 3}});
}

TEST(NormGradients, Batchnorm) {
  using Forward = Batchnorm_attributes;
  using Backward = Batchnorm_backward_attributes;
  expect_gradients<Forward, Backward>({{3, 2, 2, 2}, {1, 2, 1, 1}, {1, 2, 1, 1}});
  expect_gradients<Forward, Backward>({{5, 3}, {1, 3}, {1, 3}, {4, 1}});
}

TEST(NormGradients, WeightsOfBatchnormMakeTheSameGradient) {
  const Dims dims{3, 2, 2, 2}, channels{1, 2, 1, 1};
  const Problem problem{dims, channels, channels};
  const Values x = random_values(24, 31), dy = random_values(24, 32), scale{0.5, -2}, bias{0, 0};
  const auto saved = forward<Batchnorm_attributes>(problem, x, scale, bias);
  const Gradients expected = expected_gradients<Batchnorm_attributes>(problem, dy, x, scale, bias);
  std::vector<TensorPtr> outputs(5);
  for (TensorPtr& tensor : outputs) tensor = output(DOUBLE);
  const auto found = run(with(DBN_weight_attributes(),
                              {input("dy", dims, DOUBLE), input("x", dims, DOUBLE, {8, 1, 4, 2}),
                               input("scale", channels, DOUBLE), input("mean", channels, DOUBLE),
                               input("inv", channels, DOUBLE)},
                              outputs),
                         {dy, x, scale, saved[1], saved[2]});
  expect_near(found[0], expected.dscale, 1e-8);
  expect_near(found[1], expected.dbias, 1e-8);
  for (size_t i = 0; i < 24; ++i) {
    const size_t channel = i / 4 % 2;
    EXPECT_NEAR(found[2][channel] * dy[i] + found[3][channel] * x[i] + found[4][channel],
                expected.dx[i], 1e-8);
  }
}

TEST(NormGradientInference, Layouts) {
  const auto x = input("x", {2, 3, 4}), scale = input("scale", {1, 1, 4}),
             inv = input("inv", {2, 3, 1});
  auto dx = output(), dscale = output();
  expect_accepted(
      with(Rmsnorm_backward_attributes().has_dbias(false), {x, x, scale, inv}, {dx, dscale}));
  EXPECT_EQ(dx->get_stride(), (Dims{12, 1, 3}));
  EXPECT_EQ(dscale->get_dim(), (Dims{1, 1, 4}));
  EXPECT_EQ(dscale->get_stride(), (Dims{4, 1, 1}));
  // Dims of the user's, without the leading ones.
  dscale = output(FLOAT, {4});
  expect_accepted(with(Rmsnorm_backward_attributes().has_dbias(false), {x, x, input("s", {4}), inv},
                       {output(), dscale}));
  EXPECT_EQ(dscale->get_dim(), (Dims{4}));
  dx = output();
  expect_accepted(with(AdaLayernorm_backward_attributes(),
                       {x, x, input("scale", {2, 1, 4}), inv, inv},
                       {dx, dscale = output(), output()}));
  EXPECT_EQ(dx->get_stride(), (Dims{12, 4, 1}));
  EXPECT_EQ(dscale->get_dim(), (Dims{2, 1, 4}));
}

TEST(NormGradientErrors, AreRefused) {
  const auto x = input("x", {2, 3, 4}), scale = input("scale", {1, 1, 4}),
             inv = input("inv", {2, 3, 1});
  const auto outputs = [] { return std::vector{output(), output(), output()}; };
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED;
  expect_refused(with(Rmsnorm_backward_attributes(), {x, x, scale, inv}, {output(), output()}),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field use_dbias", "has_dbias"});
  expect_refused(with(Layernorm_backward_attributes(), {x, x, scale}, outputs()),
                 error_code_t::ATTRIBUTE_NOT_SET, {"port MEAN", "or EPSILON"});
  expect_refused(with(Layernorm_backward_attributes(), {x, x, scale, inv}, outputs()),
                 error_code_t::ATTRIBUTE_NOT_SET, {"port INV_VARIANCE"});
  expect_refused(with(Layernorm_backward_attributes(), {input("dy", {2, 4, 3}), x, scale, inv, inv},
                      outputs()),
                 shape,
                 {"\"dy\" (port DY), dims", "[2, 4, 3]", "[2, 3, 4], those of tensor \"x\""});
  expect_refused(with(Layernorm_backward_attributes(), {x, x, scale, x, inv}, outputs()), shape,
                 {"port MEAN), dim 2", "4 in [2, 3, 4]", "1, to fit [2, 3, 1]"});
  expect_refused(with(Layernorm_backward_attributes(), {x, x, scale, inv, inv},
                      {output(), output(FLOAT, {1, 3, 4}), output()}),
                 shape, {"port DSCALE), dim 1", "3 in [1, 3, 4]"});
  expect_refused(with(Batchnorm_backward_attributes().set_peer_stats({x, x}),
                      {x, x, input("scale", {1, 3, 1})}, outputs()),
                 error_code_t::GRAPH_NOT_SUPPORTED, {"peer_stats", "2 peers"});
}

}  // namespace
}  // namespace warploom::test
