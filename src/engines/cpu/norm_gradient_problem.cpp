#include "engines/cpu/norm_gradient_problem.h"

#include <algorithm>

#include "engines/cpu/norm_problem.h"
#include "ops/norm_axes.h"

namespace warploom::cpu {
namespace {

using Weight = graph::DBN_weight_attributes;
using Genstats = graph::Genstats_attributes;

template <class Attributes>
concept Summed = ops::NormBackward<Attributes> || std::same_as<Attributes, Weight> ||
    std::same_as<Attributes, Genstats>;

template <Summed Attributes>
constexpr ops::NormAxes kSummedAxes = ops::kNormAxes<Attributes>;
template <>
constexpr ops::NormAxes kSummedAxes<Weight> = ops::NormAxes::kAllButChannels;
template <>
constexpr ops::NormAxes kSummedAxes<Genstats> = ops::NormAxes::kAllButChannels;

struct SummedTensors {
  NormGradientProblem& problem;
  const fusion::FusionGroup& group;
  ir::ShapeTable shapes;
  const ir::Node& node;

  RowTensor input(size_t port) const { return {group, shapes, node.inputs[port], problem.axes}; }
  RowTensor output(size_t port) const { return {group, shapes, node.outputs[port], problem.axes}; }

  template <Summed Attributes>
  void operator()(const Attributes&) const {
    problem.x = input(Attributes::X);
    if constexpr (std::same_as<Attributes, Genstats>) {
      problem.sum = output(Genstats::SUM);
      problem.squares = output(Genstats::SQ_SUM);
    } else {
      problem.dy = input(Attributes::DY);
      problem.scale = input(Attributes::SCALE);
      problem.inv_variance = input(Attributes::INV_VARIANCE);
      if constexpr (requires { Attributes::MEAN; }) problem.mean = input(Attributes::MEAN);
      if constexpr (requires { Attributes::EPSILON; }) problem.epsilon = input(Attributes::EPSILON);
      if constexpr (requires { Attributes::DX; }) problem.dx = output(Attributes::DX);
      problem.dscale = output(Attributes::DSCALE);
      problem.dbias = output(Attributes::DBIAS);
    }
    if constexpr (std::same_as<Attributes, Weight>) {
      problem.of_dy = output(Weight::EQ_SCALE_DY);
      problem.of_x = output(Weight::EQ_SCALE_X);
      problem.offset = output(Weight::EQ_BIAS);
    }
  }
  template <class Attributes>
  void operator()(const Attributes&) const {}
};

}  // namespace

bool NormGradientProblem::fits(const graph::Operation& operation) {
  return std::visit([]<class Attributes>(const Attributes&) { return Summed<Attributes>; },
                    operation);
}

NormGradientProblem::NormGradientProblem(const fusion::FusionGroup& group, ir::ShapeTable shapes) {
  const ir::Node& node = group.node(group.anchor);
  compute = norm_compute_type(group);
  RowAxes order;
  // The axis of which every entry has parameters of its own; of layer normalization none.
  int parameter_axis = -1;
  std::visit(
      [&]<class Attributes>(const Attributes&) {
        if constexpr (Summed<Attributes>) {
          x_id = node.inputs[Attributes::X];
          if constexpr (requires { Attributes::DY; }) dy_id = node.inputs[Attributes::DY];
          if constexpr (requires { Attributes::DX; }) dx_id = node.outputs[Attributes::DX];
          const ir::Shape& x_shape = shapes[static_cast<size_t>(x_id)];
          std::span<const int64_t> scale_dims;
          if constexpr (requires { Attributes::SCALE; })
            scale_dims = shapes[static_cast<size_t>(node.inputs[Attributes::SCALE])].dims;
          constexpr ops::NormAxes kOver = kSummedAxes<Attributes>;
          order = row_axes(x_shape, ops::statistics_dims(kOver, x_shape.dims, scale_dims));
          has_scale_rows =
              kOver == ops::NormAxes::kOfScale || kOver == ops::NormAxes::kOfScaleInBatch;
          if (!has_scale_rows) parameter_axis = 1;
          if (kOver == ops::NormAxes::kOfScaleInBatch &&
              ops::aligned_dims(scale_dims, x_shape.dims.size())[0] != 1)
            parameter_axis = 0;
          if constexpr (ops::NormBackward<Attributes>) is_centered = ops::kIsCentered<Attributes>;
        }
      },
      node.operation);
  if (has_scale_rows && parameter_axis >= 0) {
    // Rows of the same parameters follow each other.
    std::erase(order.kept, parameter_axis);
    order.kept.insert(order.kept.begin(), parameter_axis);
  }
  if (parameter_axis >= 0) parameters = order.dims[static_cast<size_t>(parameter_axis)];
  axes = std::move(order);
  rows = axes.rows();
  length = axes.length();
  for (size_t i = axes.kept.size(); i-- > 0 && axes.kept[i] != parameter_axis;)
    parameter_step *= axes.dims[static_cast<size_t>(axes.kept[i])];
  std::visit(SummedTensors{*this, group, shapes, node}, node.operation);
}

}  // namespace warploom::cpu
