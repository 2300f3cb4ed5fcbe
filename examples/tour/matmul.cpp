/// Section 3: a matmul with a long epilogue, two outputs, in one kernel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tour/independent.h"
#include "tour/running.h"
#include "tour/tour.h"

namespace tour {
namespace {

using warploom::error_t;
using warploom::PointwiseMode_t;
using warploom::ReductionMode_t;
using warploom::Result;
using namespace warploom::graph;

/// Y = gelu(scale A B + bias) and AMAX = max |Y|.
struct Projection {
  std::int64_t batch, rows, depth, columns;
  float scale;
  std::vector<float> a, b, bias;

  std::int64_t outputs() const { return batch * rows * columns; }
  double operations() const { return 2.0 * static_cast<double>(outputs() * depth); }
};

Tensor_attributes row_major(const char* name, std::vector<std::int64_t> dims) {
  const std::vector<std::int64_t> strides{dims[1] * dims[2], dims[2], 1};
  return Tensor_attributes().set_name(name).set_dim(dims).set_stride(strides);
}

Pointwise_attributes pointwise(const char* name, PointwiseMode_t mode) {
  return Pointwise_attributes().set_name(name).set_mode(mode);
}

Reduction_attributes largest_magnitude() {
  return Reduction_attributes().set_name("amax").set_mode(ReductionMode_t::AMAX);
}

void keep_amax(const TensorPtr& amax) {
  amax->set_name("AMAX").set_output(true).set_dim({1, 1, 1}).set_stride({1, 1, 1});
}

Result<BuiltGraph> build_fused(Tour& tour, Projection& data, float* y_data, float* amax_data) {
  Graph graph = float_graph("projection");
  auto a = graph.tensor(row_major("A", {data.batch, data.rows, data.depth}));
  auto b = graph.tensor(row_major("B", {1, data.depth, data.columns}));  // one for all of the batch
  auto bias = graph.tensor(row_major("bias", {1, 1, data.columns}));
  auto scale = graph.tensor(data.scale);  // a scalar of the host: no memory, no entry in the pack

  auto product = graph.matmul(a, b, Matmul_attributes().set_name("product"));
  auto scaled = graph.pointwise(product, scale, pointwise("scale", PointwiseMode_t::MUL));
  auto sum = graph.pointwise(scaled, bias, pointwise("add_bias", PointwiseMode_t::ADD));
  auto y = graph.pointwise(sum, pointwise("gelu", PointwiseMode_t::GELU_FWD));
  y->set_name("Y").set_output(true);
  auto amax = graph.reduction(y, largest_magnitude());
  keep_amax(amax);

  return BuiltGraph::build(tour.handle(), std::move(graph),
                           {{a, data.a.data()},
                            {b, data.b.data()},
                            {bias, data.bias.data()},
                            {y, y_data},
                            {amax, amax_data}});
}

error_t build_unfused(Projection& data, float* y_data, float* amax_data, Sequence& sequence) {
  const std::vector<std::int64_t> dims{data.batch, data.rows, data.columns};
  float* product = sequence.intermediate(data.outputs());
  float* scaled = sequence.intermediate(data.outputs());
  float* sum = sequence.intermediate(data.outputs());
  {
    Graph graph = float_graph("matmul alone");
    auto a = graph.tensor(row_major("A", {data.batch, data.rows, data.depth}));
    auto b = graph.tensor(row_major("B", {1, data.depth, data.columns}));
    auto c = graph.matmul(a, b, Matmul_attributes().set_name("product"));
    c->set_output(true);
    CHECK_WARPLOOM_ERROR(
        sequence.add(std::move(graph), {{a, data.a.data()}, {b, data.b.data()}, {c, product}}));
  }
  {
    Graph graph = float_graph("scale alone");
    auto x = graph.tensor(row_major("product", dims));
    auto y = graph.pointwise(x, graph.tensor(data.scale), pointwise("scale", PointwiseMode_t::MUL));
    y->set_output(true);
    CHECK_WARPLOOM_ERROR(sequence.add(std::move(graph), {{x, product}, {y, scaled}}));
  }
  {
    Graph graph = float_graph("bias alone");
    auto x = graph.tensor(row_major("scaled", dims));
    auto bias = graph.tensor(row_major("bias", {1, 1, data.columns}));
    auto y = graph.pointwise(x, bias, pointwise("add_bias", PointwiseMode_t::ADD));
    y->set_output(true);
    CHECK_WARPLOOM_ERROR(
        sequence.add(std::move(graph), {{x, scaled}, {bias, data.bias.data()}, {y, sum}}));
  }
  {
    Graph graph = float_graph("GELU alone");
    auto x = graph.tensor(row_major("sum", dims));
    auto y = graph.pointwise(x, pointwise("gelu", PointwiseMode_t::GELU_FWD));
    y->set_output(true);
    CHECK_WARPLOOM_ERROR(sequence.add(std::move(graph), {{x, sum}, {y, y_data}}));
  }
  {
    Graph graph = float_graph("AMAX alone");
    auto x = graph.tensor(row_major("Y", dims));
    auto amax = graph.reduction(x, largest_magnitude());
    keep_amax(amax);
    CHECK_WARPLOOM_ERROR(sequence.add(std::move(graph), {{x, y_data}, {amax, amax_data}}));
  }
  return {};
}

std::vector<double> compute_in_double(const Projection& data) {
  const Matrix b(data.depth, data.columns, [&](std::int64_t depth, std::int64_t column) {
    return data.b[static_cast<std::size_t>(depth * data.columns + column)];
  });
  std::vector<double> result(static_cast<std::size_t>(data.outputs()));
  for_each_in_parallel(data.batch * data.rows, [&](std::int64_t row) {
    const float* begin = data.a.data() + row * data.depth;
    const std::vector<double> a(begin, begin + data.depth);
    double* out = result.data() + row * data.columns;
    b.multiply(a.data(), data.depth, data.columns, out);
    for (std::int64_t i = 0; i < data.columns; ++i) {
      const double x = data.scale * out[i] + data.bias[static_cast<std::size_t>(i)];
      out[i] = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    }
  });
  return result;
}

}  // namespace

error_t multiply_matrices(Tour& tour) {
  const std::int64_t batch = tour.is_quick() ? 2 : 16;
  tour.begin(3, "Matmul, scale, bias, GELU and AMAX in one kernel");
  tour.say(fmt::format(
      "{}x512x1024 by 1024x512, scaled by a number of the host's, plus a bias, through GELU. The "
      "graph has two outputs: the result, and its largest magnitude, which is found while the "
      "result is still in registers.",
      batch));
  Projection data{batch, 512, 1024, 512, 0.03125f, {}, {}, {}};
  data.a = random_numbers(batch * 512 * 1024, 4);
  data.b = random_numbers(1024 * 512, 5);
  data.bias = random_numbers(512, 6);

  std::vector<float> y(static_cast<std::size_t>(data.outputs())), y_unfused(y.size());
  float amax = -1, amax_unfused = -1;
  Result<BuiltGraph> built = build_fused(tour, data, y.data(), &amax);
  if (built.is_bad()) return built.error();
  BuiltGraph& fused = built.value();
  Sequence unfused(tour.handle());
  CHECK_WARPLOOM_ERROR(build_unfused(data, y_unfused.data(), &amax_unfused, unfused));
  CHECK_WARPLOOM_ERROR(fused.run());
  CHECK_WARPLOOM_ERROR(unfused.run());

  const std::vector<double> wanted = compute_in_double(data);
  double largest = 0;
  for (double value : wanted) largest = std::max(largest, std::abs(value));
  constexpr double kTolerance = 1e-5;
  tour.check(compare("Y, one graph", y.data(), wanted.data(), data.outputs(), kTolerance));
  tour.check(compare("AMAX, one graph", &amax, &largest, 1, kTolerance));
  tour.check(compare("Y, one operation at a time", y_unfused.data(), wanted.data(), data.outputs(),
                     kTolerance));
  tour.check(compare("AMAX, one operation at a time", &amax_unfused, &largest, 1, kTolerance));
  tour.draw("five operations, one kernel, two outputs", fused.graph());

  Result<std::vector<double>> seconds = time_in_turns(
      {[&] { return fused.run(); }, [&] { return unfused.run(); }}, tour.is_quick() ? 0.2 : 1.5);
  if (seconds.is_bad()) return seconds.error();
  tour.race({"matmul, scale, bias, GELU, AMAX", seconds.value()[0], seconds.value()[1],
             data.operations(), unfused.size(), unfused.intermediate_bytes(),
             fused.workspace_bytes(), fused.plan_name()});
  return {};
}

}  // namespace tour
