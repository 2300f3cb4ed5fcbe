#include "fuzz/random_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/layout.h"

namespace warploom::test {
namespace {

constexpr int64_t kExtents[] = {1, 2, 3, 5, 8, 13, 17, 33};
constexpr int64_t kMostElements = 20000;
constexpr double kMostBound = 1e4;  // keeps float far from overflow and results comparable

int64_t volume(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace

RandomGraph::RandomGraph(uint32_t seed, Operations operations)
    : draw_(seed), operations_(operations) {
  constexpr DataType_t kStored[] = {DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::HALF,
                                    DataType_t::BFLOAT16};
  const DataType_t stored = stored_ = draw_.from(kStored);
  graph.set_io_data_type(stored).set_intermediate_data_type(DataType_t::FLOAT);
  graph.set_compute_data_type(DataType_t::FLOAT);

  Dims dims;
  for (int64_t rank = 3 + draw_.below(2); rank > 0; --rank) dims.push_back(draw_.from(kExtents));
  while (volume(dims) > kMostElements) *std::max_element(dims.begin(), dims.end()) /= 2;

  Operand last = add_input(dims);
  for (int64_t steps = 1 + draw_.below(6); steps > 0; --steps) {
    last = add_step(last);
    // Later steps would amplify what a narrow type rounds to the other side of a tie.
    if (steps == 1 || (stored == DataType_t::FLOAT && draw_.one_in(3))) keep(last);
  }
}

RandomGraph::Operand RandomGraph::add_input(const Dims& dims) {
  auto tensor = graph.tensor(graph::Tensor_attributes()
                                 .set_name("in" + std::to_string(inputs.size()))
                                 .set_dim(dims)
                                 .set_stride(strides(dims)));
  // Eighths between -2 and 2: exact in every stored type.
  Values values(volume(dims));
  for (double& value : values) value = static_cast<double>(draw_.below(33) - 16) / 8;
  inputs.emplace_back(tensor, std::move(values));
  return {tensor, dims, 2};
}

RandomGraph::Operand RandomGraph::add_step(const Operand& x) {
  if (operations_ == Operations::kAll && draw_.one_in(2)) {
    return x.dims.size() == 4 && draw_.one_in(6) ? attention(x) : any_pointwise(x);
  }
  switch (draw_.below(14)) {
    case 0:
    case 1:
    case 2:
      return unary(x);
    case 3:
    case 4:
      return binary(x);
    case 5:
      return matmul(x);
    case 6:
      if (x.dims.size() != 4) return matmul(x);
      return draw_.one_in(2)   ? convolution(x)
             : draw_.one_in(2) ? image_gradient(x)
                               : filter_gradient(x);
    case 7:
      return reduction(x);
    case 8:
      return draw_.one_in(2) ? slice(x) : reshape(x);
    case 9:
      return normalization(x);
    case 10:
      return pooling(x);
    case 11:
      return concatenate(x);
    case 12:
      return dropout(x);
    default:
      return transpose(x);
  }
}

RandomGraph::Operand RandomGraph::any_pointwise(const Operand& x) {
  constexpr struct {
    PointwiseMode_t mode;
    int operands;
  } kModes[] = {
#define WARPLOOM_POINTWISE(mode, operands, ...) {PointwiseMode_t::mode, operands},
#include "ops/pointwise.def"
#undef WARPLOOM_POINTWISE
  };
  const auto& [mode, operands] = draw_.from(kModes);
  description += std::string(to_string(mode)) + " ";
  graph::Pointwise_attributes attributes;
  attributes.set_mode(mode);
  if (mode == PointwiseMode_t::GEN_INDEX)
    attributes.set_axis(draw_.below(static_cast<int64_t>(x.dims.size())));
  if (draw_.one_in(4)) attributes.set_relu_lower_clip(0.1f).set_swish_beta(1.3f);
  const auto other = [&] {
    return draw_.one_in(3) ? graph.tensor(static_cast<float>(draw_.below(9) - 4) / 3)
                           : add_input(x.dims).tensor;
  };
  auto y = operands == 1   ? graph.pointwise(x.tensor, attributes)
           : operands == 2 ? graph.pointwise(x.tensor, other(), attributes)
                           : graph.pointwise(x.tensor, other(), other(), attributes);
  return {y, x.dims, 2};
}

RandomGraph::Operand RandomGraph::attention(const Operand& x) {
  description += "attention ";
  const Dims key_dims{x.dims[0], x.dims[1], draw_.from(kExtents), x.dims[3]};
  const Operand k = add_input(key_dims), v = add_input(key_dims);
  graph::SDPA_attributes attributes;
  attributes.set_attn_scale(0.3f).set_generate_stats(draw_.one_in(3));
  if (draw_.one_in(2)) attributes.set_causal_mask(true);
  const auto [o, stats] = graph.sdpa(x.tensor, k.tensor, v.tensor, attributes);
  if (stats) {
    const Dims dims{x.dims[0], x.dims[1], x.dims[2], 1};
    stats->set_output(true).set_dim(dims).set_stride(strides(dims));
    stats->set_data_type(DataType_t::FLOAT);
    outputs.push_back({stats, 2});
  }
  o->set_dim(x.dims).set_stride(strides_of_layout("row_major", x.dims));
  return {o, x.dims, 2};
}

RandomGraph::Operand RandomGraph::unary(const Operand& x) {
  using enum PointwiseMode_t;
  constexpr PointwiseMode_t kModes[] = {
      ABS,         NEG,     IDENTITY,     RELU_FWD, GELU_FWD, SWISH_FWD, TANH_FWD,
      SIGMOID_FWD, ELU_FWD, SOFTPLUS_FWD, ERF,      SIN,      COS,       GELU_APPROX_TANH_FWD};
  const PointwiseMode_t mode = draw_.from(kModes);
  description += std::string(to_string(mode)) + " ";
  return {graph.pointwise(x.tensor, graph::Pointwise_attributes().set_mode(mode)), x.dims,
          x.bound + 1};
}

RandomGraph::Operand RandomGraph::binary(const Operand& x) {
  using enum PointwiseMode_t;
  constexpr PointwiseMode_t kModes[] = {ADD, SUB, MUL, MAX, MIN};
  const PointwiseMode_t mode = draw_.from(kModes);
  description += std::string(to_string(mode)) + " ";
  Dims dims = x.dims;
  for (int64_t& extent : dims)
    if (draw_.one_in(2)) extent = 1;
  const Operand other = add_input(dims);
  const auto attributes = graph::Pointwise_attributes().set_mode(mode);
  auto y = draw_.one_in(2) && dims == x.dims ? graph.pointwise(other.tensor, x.tensor, attributes)
                                             : graph.pointwise(x.tensor, other.tensor, attributes);
  return {y, x.dims, mode == MUL ? x.bound * other.bound : x.bound + other.bound};
}

RandomGraph::Operand RandomGraph::matmul(const Operand& x) {
  const size_t rank = x.dims.size();
  const int64_t inner = x.dims[rank - 1];
  if (x.bound * 2 * static_cast<double>(inner) > kMostBound) return unary(x);
  description += "matmul ";
  Dims dims = x.dims;
  for (size_t i = 0; i + 2 < rank; ++i)
    if (draw_.one_in(2)) dims[i] = 1;
  dims[rank - 2] = inner;
  dims[rank - 1] = draw_.from(kExtents);
  const Operand other = add_input(dims);
  Dims result = x.dims;
  result[rank - 1] = dims[rank - 1];
  return {graph.matmul(x.tensor, other.tensor, graph::Matmul_attributes()), result,
          x.bound * other.bound * static_cast<double>(inner)};
}

RandomGraph::Operand RandomGraph::convolution(const Operand& x) {
  const int64_t window = 1 + 2 * draw_.below(2), dilation = 1 + draw_.below(2);
  const int64_t padding = draw_.below(3), step = 1 + draw_.below(2);
  const int64_t reach = dilation * (window - 1) + 1;
  const double terms = static_cast<double>(x.dims[1] * window * window);
  if (std::min(x.dims[2], x.dims[3]) + 2 * padding < reach || x.bound * 2 * terms > kMostBound)
    return unary(x);
  description += "convolution ";
  // Two groups where the channels can be halved.
  const int64_t groups = x.dims[1] % 2 == 0 && draw_.one_in(3) ? 2 : 1;
  const Operand w = add_input({groups * draw_.from(kExtents), x.dims[1] / groups, window, window});
  auto y = graph.conv_fprop(x.tensor, w.tensor,
                            graph::Conv_fprop_attributes()
                                .set_padding({padding, padding})
                                .set_stride({step, step})
                                .set_dilation({dilation, dilation}));
  const auto extent = [&](int64_t size) { return 1 + (size + 2 * padding - reach) / step; };
  return {
      y, {x.dims[0], w.dims[0], extent(x.dims[2]), extent(x.dims[3])}, x.bound * w.bound * terms};
}

// `dy` as the response of a convolution without padding at the end.
RandomGraph::Operand RandomGraph::image_gradient(const Operand& dy) {
  const int64_t window = 1 + draw_.below(3), dilation = 1 + draw_.below(2);
  const int64_t step = 1 + draw_.below(3), padding = draw_.below(2);
  const int64_t reach = dilation * (window - 1) + 1;
  const double terms = static_cast<double>(dy.dims[1] * window * window);
  const auto extent = [&](int64_t size) { return (size - 1) * step + reach - padding; };
  if (std::min(extent(dy.dims[2]), extent(dy.dims[3])) < 1 || dy.bound * 2 * terms > kMostBound)
    return unary(dy);
  description += "image_gradient ";
  const int64_t groups = dy.dims[1] % 2 == 0 && draw_.one_in(3) ? 2 : 1;
  const Operand w = add_input({dy.dims[1], draw_.from(kExtents), window, window});
  const Dims dims{dy.dims[0], groups * w.dims[1], extent(dy.dims[2]), extent(dy.dims[3])};
  if (volume(dims) > 4 * kMostElements) return unary(dy);
  auto dx = graph.conv_dgrad(dy.tensor, w.tensor,
                             graph::Conv_dgrad_attributes()
                                 .set_pre_padding({padding, padding})
                                 .set_post_padding({0, 0})
                                 .set_stride({step, step})
                                 .set_dilation({dilation, dilation}));
  dx->set_dim(dims);
  return {dx, dims, dy.bound * w.bound * terms};
}

// `x` as the image, without padding.
RandomGraph::Operand RandomGraph::filter_gradient(const Operand& x) {
  const int64_t height = 1 + draw_.below(std::min<int64_t>(x.dims[2], 3));
  const int64_t width = 1 + draw_.below(std::min<int64_t>(x.dims[3], 3));
  const Dims y{x.dims[0], draw_.from(kExtents), x.dims[2] - height + 1, x.dims[3] - width + 1};
  const double terms = static_cast<double>(y[0] * y[2] * y[3]);
  if (x.bound * 2 * terms > kMostBound || volume(y) > kMostElements) return unary(x);
  description += "filter_gradient ";
  const Operand dy = add_input(y);
  auto dw = graph.conv_wgrad(
      dy.tensor, x.tensor,
      graph::Conv_wgrad_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
  const Dims dims{y[1], x.dims[1], height, width};
  dw->set_dim(dims);
  return {dw, dims, x.bound * dy.bound * terms};
}

RandomGraph::Operand RandomGraph::pooling(const Operand& x) {
  constexpr ResampleMode_t kModes[] = {ResampleMode_t::MAXPOOL,
                                       ResampleMode_t::AVGPOOL_EXCLUDE_PADDING,
                                       ResampleMode_t::AVGPOOL_INCLUDE_PADDING};
  const ResampleMode_t mode = draw_.from(kModes);
  description += std::string(to_string(mode)) + " ";
  Dims window, step, padding, dims{x.dims[0], x.dims[1]};
  for (size_t axis = 2; axis < x.dims.size(); ++axis) {
    window.push_back(1 + draw_.below(std::min<int64_t>(x.dims[axis], 3)));
    step.push_back(1 + draw_.below(2));
    padding.push_back(draw_.below(window.back()));
    dims.push_back(1 + (x.dims[axis] + 2 * padding.back() - window.back()) / step.back());
  }
  auto [y, index] = graph.resample(
      x.tensor,
      graph::Resample_attributes()
          .set_resampling_mode(mode)
          .set_padding_mode(draw_.one_in(2) ? PaddingMode_t::ZERO_PAD : PaddingMode_t::EDGE_VAL_PAD)
          .set_window(window)
          .set_stride(step)
          .set_pre_padding(padding)
          .set_post_padding(padding)
          .set_generate_index(false));
  return {y, dims, x.bound};
}

RandomGraph::Operand RandomGraph::concatenate(const Operand& x) {
  description += "concatenate ";
  const auto axis = draw_.below(static_cast<int64_t>(x.dims.size()));
  Dims dims = x.dims;
  dims[static_cast<size_t>(axis)] = draw_.from(kExtents);
  if (volume(dims) > kMostElements) return unary(x);
  // Its inputs must have one data type.
  const bool is_another = stored_ == DataType_t::FLOAT && draw_.one_in(2);
  if (!is_another) dims = x.dims;
  const Operand other = is_another ? add_input(dims) : x;
  std::vector<graph::TensorPtr> parts{x.tensor, other.tensor};
  if (draw_.one_in(2)) std::swap(parts[0], parts[1]);
  dims[static_cast<size_t>(axis)] += x.dims[static_cast<size_t>(axis)];
  auto y = graph.concatenate(parts, graph::Concatenate_attributes().set_axis(axis));
  return {y, dims, std::max(x.bound, other.bound)};
}

RandomGraph::Operand RandomGraph::dropout(const Operand& x) {
  description += "dropout ";
  auto mask = graph.rng(nullptr, nullptr,
                        graph::Rng_attributes()
                            .set_distribution(RngDistribution_t::BERNOULLI)
                            .set_seed(draw_.below(1000))
                            .set_bernoulli_probability(0.75)
                            .set_dim(x.dims));
  auto y =
      graph.pointwise(x.tensor, mask, graph::Pointwise_attributes().set_mode(PointwiseMode_t::MUL));
  return {y, x.dims, x.bound};
}

RandomGraph::Operand RandomGraph::reduction(const Operand& x) {
  using enum ReductionMode_t;
  constexpr ReductionMode_t kModes[] = {
      ReductionMode_t::ADD, AVG, ReductionMode_t::MAX, ReductionMode_t::MIN, AMAX, NORM1, NORM2};
  if (x.bound * static_cast<double>(volume(x.dims)) > kMostBound) return unary(x);
  const ReductionMode_t mode = draw_.from(kModes);
  description += "reduce_" + std::string(to_string(mode)) + " ";
  Dims dims = x.dims;
  for (int64_t& extent : dims)
    if (draw_.one_in(2)) extent = 1;
  auto y = graph.reduction(x.tensor, graph::Reduction_attributes().set_mode(mode));
  y->set_dim(dims).set_stride(strides_of_layout("row_major", dims));
  return {y, dims, x.bound * static_cast<double>(volume(x.dims))};
}

RandomGraph::Operand RandomGraph::normalization(const Operand& x) {
  const int64_t axis = draw_.below(static_cast<int64_t>(x.dims.size()));
  if (draw_.one_in(3)) {
    description += "softmax ";
    // An error of a score is a relative one of its exponential.
    return {graph.softmax(x.tensor, graph::Softmax_attributes().set_axis(axis)), x.dims,
            std::max(x.bound, 1.0)};
  }
  Dims parameters(x.dims.size(), 1);
  parameters[axis] = x.dims[axis];
  const Operand scale = add_input(parameters), bias = add_input(parameters);
  // An epsilon of 1 keeps 1 / sqrt(variance + epsilon) from enlarging errors.
  const auto epsilon = graph.tensor(1.0f, graph::ScalarType::RUNTIME_PARAM);
  const double bound = 2 * x.bound * scale.bound + bias.bound;
  if (draw_.one_in(2)) {
    description += "rmsnorm ";
    return {graph.rmsnorm(x.tensor, scale.tensor,
                          graph::Rmsnorm_attributes()
                              .set_forward_phase(NormFwdPhase_t::INFERENCE)
                              .set_bias(bias.tensor)
                              .set_epsilon(epsilon))[0],
            x.dims, bound};
  }
  description += "layernorm ";
  return {graph.layernorm(x.tensor, scale.tensor, bias.tensor,
                          graph::Layernorm_attributes()
                              .set_forward_phase(NormFwdPhase_t::INFERENCE)
                              .set_epsilon(epsilon))[0],
          x.dims, bound};
}

RandomGraph::Operand RandomGraph::transpose(const Operand& x) {
  description += "transpose ";
  std::vector<int64_t> permutation(x.dims.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  for (size_t i = permutation.size(); i > 1; --i)
    std::swap(permutation[i - 1], permutation[draw_.below(static_cast<int64_t>(i))]);
  Dims dims;
  for (int64_t axis : permutation) dims.push_back(x.dims[axis]);
  return {graph.transpose(x.tensor, graph::Transpose_attributes().set_permutation(permutation)),
          dims, x.bound};
}

RandomGraph::Operand RandomGraph::slice(const Operand& x) {
  description += "slice ";
  std::vector<std::pair<int64_t, int64_t>> ranges;
  Dims steps, dims;
  for (int64_t extent : x.dims) {
    const int64_t start = draw_.below(extent);
    const int64_t limit = start + 1 + draw_.below(extent - start);
    steps.push_back(1 + draw_.below(2));
    ranges.emplace_back(start, limit);
    dims.push_back((limit - start + steps.back() - 1) / steps.back());
  }
  return {graph.slice(x.tensor, graph::Slice_attributes().set_slices(ranges).set_strides(steps)),
          dims, x.bound};
}

RandomGraph::Operand RandomGraph::reshape(const Operand& x) {
  description += "reshape ";
  Dims dims = x.dims;
  std::rotate(dims.begin(), dims.begin() + 1, dims.end());
  return {graph.reshape(x.tensor, graph::Reshape_attributes().set_dim(dims).set_reshape_mode(
                                      ReshapeMode_t::LOGICAL)),
          dims, x.bound};
}

RandomGraph::Dims RandomGraph::strides(const Dims& dims) {
  constexpr const char* kLayouts[] = {"row_major", "reversed", "channels_last",
                                      "padded",    "odd_ones", "padded_channels_last"};
  return strides_of_layout(draw_.from(kLayouts), dims);
}

void RandomGraph::keep(const Operand& result) {
  result.tensor->set_output(true).set_dim(result.dims).set_stride(strides(result.dims));
  outputs.push_back({result.tensor, result.bound});
}

}  // namespace warploom::test
