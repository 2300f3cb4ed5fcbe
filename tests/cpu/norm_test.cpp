// Normalizations and their gradients against double loops: layouts, tails, large means of small
// deviations, NaN, empty tensors.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "cpu/engine_runner.h"
#include "cpu/group_builder.h"
#include "harness/layout.h"

namespace warploom::test {
namespace {

using fusion::AnchorKind;
using enum DataType_t;

constexpr double kEpsilon = 0.03125;

int64_t product(const Dims& dims) {
  int64_t result = 1;
  for (int64_t dim : dims) result *= dim;
  return result;
}

/// The place in `kept` (of the same rank, dims of 1 repeat) of element number `at` of `dims`.
size_t place(int64_t at, const Dims& dims, const Dims& kept) {
  int64_t index = 0, unit = 1;
  for (size_t axis = dims.size(); axis-- > 0; at /= dims[axis]) {
    if (kept[axis] != 1) index += at % dims[axis] * unit;
    unit *= kept[axis];
  }
  return static_cast<size_t>(index);
}

/// X, the dims of its statistics and those of its parameters.
struct Problem {
  Dims x, statistics, parameters;
  bool is_centered = true;
  std::string layout = "row_major", gradient_layout = "row_major";
  DataType_t type = FLOAT;
  double mean = 0;        // of X
  bool is_saved = true;   // the statistics are inputs of the gradient
  double terms = 64;      // of rounding errors
  int64_t poisoned = -1;  // element of X that is NaN

  int64_t elements() const { return product(x); }
  Values x_values() const {
    Values values = random_values(elements(), 3, 64, 96);
    for (double& value : values) value += mean;
    values = rounded(values, type);
    if (poisoned >= 0)
      values[static_cast<size_t>(poisoned)] = std::numeric_limits<double>::quiet_NaN();
    return as_stored(values, type, x, layout);
  }
  Values dy_values() const { return rounded(random_values(elements(), 4, 16), type); }
  Values scale_values() const { return random_values(product(parameters), 5, 16); }
  Values bias_values() const { return random_values(product(parameters), 6, 16); }
};

struct Statistics {
  Values mean, inv_variance;
  Values count, variance;
};

Statistics statistics_of(const Problem& p, const Values& x) {
  const auto size = static_cast<size_t>(product(p.statistics));
  Statistics s{Values(size), Values(size), Values(size), Values(size)};
  for (int64_t i = 0; i < p.elements(); ++i) {
    s.mean[place(i, p.x, p.statistics)] += x[static_cast<size_t>(i)];
    s.count[place(i, p.x, p.statistics)] += 1;
  }
  for (size_t at = 0; at < size; ++at) s.mean[at] = p.is_centered ? s.mean[at] / s.count[at] : 0;
  for (int64_t i = 0; i < p.elements(); ++i) {
    const size_t at = place(i, p.x, p.statistics);
    const double left = x[static_cast<size_t>(i)] - s.mean[at];
    s.variance[at] += left * left / s.count[at];
  }
  for (size_t at = 0; at < size; ++at)
    s.inv_variance[at] = 1 / std::sqrt(s.variance[at] + kEpsilon);
  return s;
}

struct Gradients {
  Values dx, dscale, dbias;
};

Gradients gradients_of(const Problem& p, const Statistics& s, const Values& x, const Values& dy,
                       const Values& scale) {
  Gradients g{Values(x.size()), Values(scale.size()), Values(scale.size())};
  Values sum(s.mean.size()), products(s.mean.size());
  const auto normal = [&](int64_t i) {
    const size_t at = place(i, p.x, p.statistics);
    return (x[static_cast<size_t>(i)] - s.mean[at]) * s.inv_variance[at];
  };
  for (int64_t i = 0; i < p.elements(); ++i) {
    const size_t at = place(i, p.x, p.statistics), of = place(i, p.x, p.parameters);
    const double gradient = dy[static_cast<size_t>(i)];
    g.dscale[of] += gradient * normal(i);
    g.dbias[of] += gradient;
    sum[at] += gradient * scale[of] / s.count[at];
    products[at] += gradient * scale[of] * normal(i) / s.count[at];
  }
  for (int64_t i = 0; i < p.elements(); ++i) {
    const size_t at = place(i, p.x, p.statistics), of = place(i, p.x, p.parameters);
    g.dx[static_cast<size_t>(i)] =
        s.inv_variance[at] * (dy[static_cast<size_t>(i)] * scale[of] -
                              (p.is_centered ? sum[at] : 0) - normal(i) * products[at]);
  }
  return g;
}

/// Adds tensors with their values.
struct Builder : GroupBuilder {
  ValuesById inputs, expected;

  ir::TensorId in(const char* name, DataType_t type, const Dims& dims, const std::string& layout,
                  const Values& values) {
    const ir::TensorId id = stored(name, type, dims, layout);
    inputs[id] = values;
    return id;
  }
  ir::TensorId out(const char* name, DataType_t type, const Dims& dims, const std::string& layout,
                   const Values& values) {
    const ir::TensorId id = stored(name, type, dims, layout);
    expected[id] = rounded(values, type);
    return id;
  }
  void check(double terms) {
    expect_engine_and_generic("cpu.norm", build(), inputs, expected, terms);
  }
};

template <class Backward>
void expect_gradients(const Problem& p, Backward attributes = {}) {
  SCOPED_TRACE(p.layout + ", " + p.gradient_layout + ", " + std::string(to_string(p.type)) +
               ", mean " + std::to_string(p.mean) + ", x " + testing::PrintToString(p.x));
  Builder b;
  const DataType_t wide = p.type == DOUBLE ? DOUBLE : FLOAT;
  const Values x = p.x_values(), dy = p.dy_values(), scale = p.scale_values();
  Statistics s = statistics_of(p, x);
  std::vector<ir::TensorId> inputs(std::size(Backward::kInputs), ir::kNoTensor);
  inputs[Backward::DY] = b.in("DY", p.type, p.x, p.gradient_layout, dy);
  inputs[Backward::X] = b.in("X", p.type, p.x, p.layout, x);
  inputs[Backward::SCALE] = b.in("SCALE", wide, p.parameters, "row_major", scale);
  if (p.is_saved) {
    // The gradient is that at the statistics as they are stored.
    s.inv_variance = rounded(s.inv_variance, wide);
    s.mean = rounded(s.mean, wide);
    inputs[Backward::INV_VARIANCE] =
        b.in("INV_VARIANCE", wide, p.statistics, "row_major", s.inv_variance);
  }
  if constexpr (requires { Backward::MEAN; }) {
    if (p.is_saved)
      inputs[Backward::MEAN] = b.in("MEAN", wide, p.statistics, "row_major", s.mean);
    else
      inputs[Backward::EPSILON] = b.in("EPSILON", wide, {1}, "row_major", {kEpsilon});
  }
  const Gradients g = gradients_of(p, s, x, dy, scale);
  const auto dx = b.out("DX", p.type, p.x, p.layout, g.dx);
  const auto dscale = b.out("DSCALE", wide, p.parameters, "row_major", g.dscale);
  const auto dbias = b.out("DBIAS", wide, p.parameters, "row_major", g.dbias);
  b.anchor(AnchorKind::kNorm, attributes, inputs, {dx, dscale, dbias});
  b.begin_epilogue(dx);
  b.store(b.anchor_value());
  b.check(p.terms);
}

template <class Forward>
void expect_forward(const Problem& p, Forward attributes = {}) {
  SCOPED_TRACE(p.layout + ", " + std::string(to_string(p.type)) + ", mean " +
               std::to_string(p.mean) + ", x " + testing::PrintToString(p.x));
  Builder b;
  const DataType_t wide = p.type == DOUBLE ? DOUBLE : FLOAT;
  const Values x = p.x_values(), scale = p.scale_values(), bias = p.bias_values();
  const Statistics s = statistics_of(p, x);
  Values y;
  for (int64_t i = 0; i < p.elements(); ++i) {
    const size_t at = place(i, p.x, p.statistics), of = place(i, p.x, p.parameters);
    y.push_back((x[static_cast<size_t>(i)] - s.mean[at]) * s.inv_variance[at] * scale[of] +
                bias[of]);
  }
  std::vector<ir::TensorId> inputs(std::size(Forward::kInputs), ir::kNoTensor);
  std::vector<ir::TensorId> outputs(std::size(Forward::kOutputs), ir::kNoTensor);
  inputs[Forward::X] = b.in("X", p.type, p.x, p.layout, x);
  inputs[Forward::SCALE] = b.in("SCALE", wide, p.parameters, "row_major", scale);
  inputs[Forward::BIAS] = b.in("BIAS", wide, p.parameters, "row_major", bias);
  inputs[Forward::EPSILON] = b.in("EPSILON", wide, {1}, "row_major", {kEpsilon});
  outputs[Forward::Y] = b.out("Y", p.type, p.x, p.gradient_layout, y);
  outputs[Forward::INV_VARIANCE] =
      b.out("INV_VARIANCE", wide, p.statistics, "row_major", s.inv_variance);
  if constexpr (requires { Forward::MEAN; })
    outputs[Forward::MEAN] = b.out("MEAN", wide, p.statistics, "row_major", s.mean);
  if constexpr (requires { Forward::MOMENTUM; }) {
    const Values previous = random_values(product(p.parameters), 7, 16);
    inputs[Forward::MOMENTUM] = b.in("MOMENTUM", wide, {1}, "row_major", {0.25});
    inputs[Forward::PREV_RUNNING_MEAN] =
        b.in("PREV_MEAN", wide, p.parameters, "row_major", previous);
    inputs[Forward::PREV_RUNNING_VAR] = b.in("PREV_VAR", wide, p.parameters, "row_major", previous);
    Values next_mean = previous, next_variance = previous;
    for (size_t c = 0; c < previous.size(); ++c) {
      next_mean[c] = 0.75 * previous[c] + 0.25 * s.mean[c];
      next_variance[c] = 0.75 * previous[c] + 0.25 * s.variance[c] * s.count[c] / (s.count[c] - 1);
    }
    outputs[Forward::NEXT_RUNNING_MEAN] =
        b.out("NEXT_MEAN", wide, p.parameters, "row_major", next_mean);
    outputs[Forward::NEXT_RUNNING_VAR] =
        b.out("NEXT_VAR", wide, p.parameters, "row_major", next_variance);
  }
  b.anchor(AnchorKind::kNorm, attributes, inputs, outputs);
  b.begin_epilogue(outputs[Forward::Y]);
  b.store(b.anchor_value());
  b.check(p.terms);
}

/// Every type and layout, data far from zero, statistics given and computed.
void for_each_variant(Problem p, std::vector<std::string> layouts,
                      const std::function<void(const Problem&)>& check) {
  for (const std::string& layout : layouts) {
    p.layout = layout;
    for (DataType_t type : {FLOAT, HALF, BFLOAT16, DOUBLE}) {
      p.type = type;
      check(p);
    }
    p.type = FLOAT;
    p.gradient_layout = "padded";
    check(p);
    p.gradient_layout = layout;
    p.is_saved = false;
    check(p);
    // Deviations of some 1/4000 of the mean, all exact in float.
    p.mean = 4096;
    check(p);
    p.mean = 0, p.is_saved = true;
  }
}

Problem layer(Dims x, Dims scale) {
  Dims statistics = x;
  for (size_t axis = 0; axis < x.size(); ++axis)
    if (scale[axis] != 1) statistics[axis] = 1;
  return {.x = std::move(x), .statistics = std::move(statistics), .parameters = std::move(scale)};
}
Problem batch(Dims x) {
  Dims channels(x.size(), 1);
  channels[1] = x[1];
  return {.x = std::move(x), .statistics = channels, .parameters = channels};
}
Problem instance(Dims x) {
  Problem p = batch(x);
  p.statistics[0] = x[0];
  return p;
}

TEST(CpuNorm, LayernormAndItsGradient) {
  for (const Problem& p : {layer({3, 5, 37}, {1, 1, 37}), layer({3, 4, 7}, {1, 4, 7}),
                           layer({2, 35, 6}, {1, 35, 1}), layer({19, 1, 64}, {1, 1, 64})})
    for_each_variant(p, {"row_major", "reversed", "padded", "spread", "odd_ones"},
                     [](const Problem& variant) {
                       expect_forward<graph::Layernorm_attributes>(variant);
                       expect_gradients<graph::Layernorm_backward_attributes>(variant);
                     });
}

TEST(CpuNorm, RmsnormAndItsGradient) {
  Problem p = layer({4, 9, 50}, {1, 1, 50});
  p.is_centered = false;
  for (const char* layout : {"row_major", "reversed", "padded"})
    for (DataType_t type : {FLOAT, HALF, BFLOAT16, DOUBLE}) {
      p.layout = p.gradient_layout = layout, p.type = type;
      expect_forward<graph::Rmsnorm_attributes>(p);
      expect_gradients<graph::Rmsnorm_backward_attributes>(p);
    }
}

TEST(CpuNorm, AdaptiveLayernormAndItsGradient) {
  Problem p = layer({3, 9, 21}, {1, 1, 21});
  p.parameters = {3, 1, 21};
  for_each_variant(p, {"row_major", "reversed", "padded"}, [](const Problem& variant) {
    expect_forward<graph::AdaLayernorm_attributes>(variant);
    expect_gradients<graph::AdaLayernorm_backward_attributes>(variant);
  });
}

TEST(CpuNorm, BatchnormAndItsGradient) {
  for (const Dims& x : {Dims{3, 19, 5, 7}, Dims{70, 33}, Dims{2, 3, 4, 5}, Dims{5, 1, 3, 4},
                        Dims{2, 16, 3, 2, 3}}) {
    std::vector<std::string> layouts{"row_major", "reversed", "padded"};
    if (x.size() == 4) layouts.insert(layouts.end(), {"channels_last", "padded_channels_last"});
    for_each_variant(batch(x), layouts, [](const Problem& variant) {
      expect_forward<graph::Batchnorm_attributes>(variant);
      expect_gradients<graph::Batchnorm_backward_attributes>(variant);
    });
  }
}

TEST(CpuNorm, InstancenormAndItsGradient) {
  for (const Dims& x : {Dims{3, 19, 5, 7}, Dims{2, 8, 9, 1}})
    for_each_variant(instance(x), {"row_major", "reversed", "channels_last", "padded"},
                     [](const Problem& variant) {
                       expect_forward<graph::Instancenorm_attributes>(variant);
                       expect_gradients<graph::Instancenorm_backward_attributes>(variant);
                     });
}

// Many tasks, on several threads; pieces and chunks with tails.
TEST(CpuNorm, LargeTensors) {
  Problem rows = layer({400, 3, 517}, {1, 1, 517});
  rows.terms = 256;
  expect_forward<graph::Layernorm_attributes>(rows);
  expect_gradients<graph::Layernorm_backward_attributes>(rows);
  Problem long_rows = layer({3, 70001}, {1, 70001});
  long_rows.terms = 256;
  expect_gradients<graph::Layernorm_backward_attributes>(long_rows);
  Problem channels = batch({7, 37, 41, 43});
  channels.terms = 256;
  for (const char* layout : {"row_major", "channels_last", "padded"}) {
    channels.layout = channels.gradient_layout = layout;
    channels.statistics = channels.parameters;
    expect_forward<graph::Batchnorm_attributes>(channels);
    expect_gradients<graph::Batchnorm_backward_attributes>(channels);
    channels.statistics[0] = channels.x[0];
    expect_gradients<graph::Instancenorm_backward_attributes>(channels);
  }
}

TEST(CpuNorm, NanStaysInItsRow) {
  for (const char* layout : {"row_major", "reversed"}) {
    Problem p = layer({4, 3, 21}, {1, 1, 21});
    p.layout = layout, p.poisoned = 50, p.is_saved = false;
    expect_forward<graph::Layernorm_attributes>(p);
    expect_gradients<graph::Layernorm_backward_attributes>(p);
    Problem channels = batch({2, 18, 3, 3});
    channels.layout = std::string(layout) == "reversed" ? "channels_last" : layout;
    channels.poisoned = 50, channels.is_saved = false;
    expect_forward<graph::Batchnorm_attributes>(channels);
    expect_gradients<graph::Batchnorm_backward_attributes>(channels);
  }
}

TEST(CpuNorm, OverNothing) {
  expect_gradients<graph::Layernorm_backward_attributes>(layer({0, 2, 5}, {1, 1, 5}));
  expect_gradients<graph::Batchnorm_backward_attributes>(batch({2, 0, 3, 3}));
  for (const char* layout : {"row_major", "channels_last"}) {
    Problem p = batch({0, 3, 2, 2});
    p.layout = p.gradient_layout = layout;
    expect_gradients<graph::Batchnorm_backward_attributes>(p);
  }
}

TEST(CpuNorm, SumsOfBatchnorm) {
  for (const char* layout : {"row_major", "channels_last", "reversed", "padded"})
    for (DataType_t type : {FLOAT, BFLOAT16, DOUBLE}) {
      SCOPED_TRACE(layout);
      Problem p = batch({3, 21, 5, 6});
      p.layout = layout, p.type = type;
      const DataType_t wide = type == DOUBLE ? DOUBLE : FLOAT;
      const Values x = p.x_values();
      Values sum(21), squares(21);
      for (int64_t i = 0; i < p.elements(); ++i) {
        const double value = x[static_cast<size_t>(i)];
        sum[place(i, p.x, p.parameters)] += value;
        squares[place(i, p.x, p.parameters)] += value * value;
      }
      Builder b;
      const auto tx = b.in("X", type, p.x, layout, x);
      const auto tsum = b.out("SUM", wide, p.parameters, "row_major", sum);
      const auto tsquares = b.out("SQ_SUM", wide, p.parameters, "row_major", squares);
      b.anchor(AnchorKind::kNorm, graph::Genstats_attributes{}, {tx}, {tsum, tsquares});
      b.begin_epilogue(tsum);
      b.store(b.anchor_value());
      b.check(64);
    }
}

TEST(CpuNorm, WeightsOfBatchnormsGradient) {
  for (const char* layout : {"row_major", "channels_last"}) {
    SCOPED_TRACE(layout);
    Problem p = batch({3, 21, 5, 6});
    p.layout = layout, p.mean = 2;
    const Values x = p.x_values(), dy = p.dy_values(), scale = p.scale_values();
    Statistics s = statistics_of(p, x);
    s.mean = rounded(s.mean, FLOAT), s.inv_variance = rounded(s.inv_variance, FLOAT);
    const Gradients g = gradients_of(p, s, x, dy, scale);
    Values of_dy, of_x, offset;
    for (size_t c = 0; c < 21; ++c) {
      of_dy.push_back(scale[c] * s.inv_variance[c]);
      of_x.push_back(-of_dy[c] * s.inv_variance[c] * g.dscale[c] / s.count[c]);
      offset.push_back(-of_dy[c] * g.dbias[c] / s.count[c] - of_x[c] * s.mean[c]);
    }
    Builder b;
    using Weight = graph::DBN_weight_attributes;
    std::vector<ir::TensorId> inputs(5), outputs(5);
    inputs[Weight::DY] = b.in("DY", FLOAT, p.x, "padded", dy);
    inputs[Weight::X] = b.in("X", FLOAT, p.x, layout, x);
    inputs[Weight::SCALE] = b.in("SCALE", FLOAT, p.parameters, "row_major", scale);
    inputs[Weight::MEAN] = b.in("MEAN", FLOAT, p.parameters, "row_major", s.mean);
    inputs[Weight::INV_VARIANCE] =
        b.in("INV_VARIANCE", FLOAT, p.parameters, "row_major", s.inv_variance);
    const auto out = [&](const char* name, const Values& values) {
      return b.out(name, FLOAT, p.parameters, "row_major", values);
    };
    outputs[Weight::DSCALE] = out("DSCALE", g.dscale);
    outputs[Weight::DBIAS] = out("DBIAS", g.dbias);
    outputs[Weight::EQ_SCALE_DY] = out("EQ_SCALE_DY", of_dy);
    outputs[Weight::EQ_SCALE_X] = out("EQ_SCALE_X", of_x);
    outputs[Weight::EQ_BIAS] = out("EQ_BIAS", offset);
    b.anchor(AnchorKind::kNorm, Weight{}, inputs, outputs);
    b.begin_epilogue(outputs[0]);
    b.store(b.anchor_value());
    b.check(64);
  }
}

TEST(CpuNorm, Softmax) {
  for (const char* layout : {"row_major", "reversed", "padded"})
    for (int64_t axis : {2, 1})
      for (DataType_t type : {FLOAT, HALF, DOUBLE}) {
        SCOPED_TRACE(layout);
        Problem p = layer({5, 13, 37}, axis == 2 ? Dims{1, 1, 37} : Dims{1, 13, 1});
        p.layout = layout, p.type = type, p.mean = 200;
        const Values x = p.x_values();
        Values largest(static_cast<size_t>(product(p.statistics)), -1e300), sum(largest.size());
        Values y(x.size());
        const auto at = [&](size_t i) { return place(static_cast<int64_t>(i), p.x, p.statistics); };
        for (size_t i = 0; i < x.size(); ++i) largest[at(i)] = std::max(largest[at(i)], x[i]);
        for (size_t i = 0; i < x.size(); ++i) sum[at(i)] += std::exp(x[i] - largest[at(i)]);
        for (size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i] - largest[at(i)]) / sum[at(i)];
        Builder b;
        std::vector<ir::TensorId> inputs(std::size(graph::Softmax_attributes::kInputs),
                                         ir::kNoTensor);
        std::vector<ir::TensorId> outputs(std::size(graph::Softmax_attributes::kOutputs),
                                          ir::kNoTensor);
        inputs[graph::Softmax_attributes::P] = b.in("P", type, p.x, layout, x);
        outputs[0] = b.out("S", type, p.x, "padded", y);
        b.anchor(AnchorKind::kNorm, graph::Softmax_attributes().set_axis(axis), inputs, outputs);
        b.begin_epilogue(outputs[0]);
        b.store(b.anchor_value());
        b.check(64);
      }
}

}  // namespace
}  // namespace warploom::test
