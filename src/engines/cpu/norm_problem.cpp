#include "engines/cpu/norm_problem.h"

#include <algorithm>

#include "ops/norm.h"
#include "ops/norm_axes.h"

namespace warploom::cpu {
namespace {

using Softmax = graph::Softmax_attributes;
using Batchnorm = graph::Batchnorm_attributes;
using Inference = graph::Batchnorm_inference_attributes;

struct Filler {
  NormProblem& problem;
  const fusion::FusionGroup& group;
  ir::ShapeTable shapes;
  const ir::Node& node;

  const ir::Shape& shape(size_t port) const {
    return shapes[static_cast<size_t>(node.inputs[port])];
  }
  RowTensor input(size_t port) const { return {group, shapes, node.inputs[port], problem.axes}; }
  RowTensor output(size_t port) const { return {group, shapes, node.outputs[port], problem.axes}; }
  void set_axes(size_t x, std::span<const int64_t> statistics) const {
    problem.axes = row_axes(shape(x), statistics);
    problem.x_id = node.inputs[x];
    problem.x = input(x);
    problem.y = output(0);  // of all of them
  }

  void operator()(const Softmax& softmax) const {
    problem.kind = NormProblem::Kind::kSoftmax;
    ops::FixedDims statistics(shape(Softmax::P).dims);
    statistics[ops::softmax_axis(softmax, statistics.size())] = 1;
    set_axes(Softmax::P, statistics);
    problem.sink = input(Softmax::SINK);
    problem.maximum = output(Softmax::Max);
    problem.sum = output(Softmax::Sum_exp);
    problem.stats = output(Softmax::Stats);
  }

  template <ops::ForwardNormalization Attributes>
  void operator()(const Attributes&) const {
    set_axes(Attributes::X,
             ops::statistics_dims(ops::kNormAxes<Attributes>, shape(Attributes::X).dims,
                                  shape(Attributes::SCALE).dims));
    problem.is_centered = ops::kIsCentered<Attributes>;
    problem.scale = input(Attributes::SCALE);
    problem.bias = input(Attributes::BIAS);
    if constexpr (std::same_as<Attributes, Inference>) {
      problem.kind = NormProblem::Kind::kGiven;
      problem.given_mean = input(Attributes::MEAN);
      problem.given_inv_variance = input(Attributes::INV_VARIANCE);
    } else {
      problem.epsilon = input(Attributes::EPSILON);
      if constexpr (requires { Attributes::MEAN; }) problem.mean = output(Attributes::MEAN);
      problem.inv_variance = output(Attributes::INV_VARIANCE);
    }
    if constexpr (std::same_as<Attributes, Batchnorm>) {
      problem.previous_mean = input(Batchnorm::PREV_RUNNING_MEAN);
      problem.previous_variance = input(Batchnorm::PREV_RUNNING_VAR);
      problem.momentum = input(Batchnorm::MOMENTUM);
      problem.next_mean = output(Batchnorm::NEXT_RUNNING_MEAN);
      problem.next_variance = output(Batchnorm::NEXT_RUNNING_VAR);
    }
  }

  template <class Attributes>
  void operator()(const Attributes&) const {}
};

}  // namespace

DataType_t norm_compute_type(const fusion::FusionGroup& group) {
  const ir::Node& node = group.node(group.anchor);
  const auto is_wide = [&](ir::TensorId id) {
    if (id == ir::kNoTensor) return false;
    const DataType_t type = group.tensor(id).data_type;
    return type == DataType_t::DOUBLE || type == DataType_t::INT32 || type == DataType_t::INT64;
  };
  const bool is_double = node.compute_data_type == DataType_t::DOUBLE ||
                         std::ranges::any_of(node.inputs, is_wide) ||
                         std::ranges::any_of(node.outputs, is_wide);
  return is_double ? DataType_t::DOUBLE : DataType_t::FLOAT;
}

NormProblem::NormProblem(const fusion::FusionGroup& group, ir::ShapeTable shapes) {
  const ir::Node& node = group.node(group.anchor);
  compute = norm_compute_type(group);
  std::visit(Filler{*this, group, shapes, node}, node.operation);
  rows = axes.rows();
  length = axes.length();
}

}  // namespace warploom::cpu
