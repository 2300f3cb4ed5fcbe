#include "engines/cpu/bound_batchnorm_finalize.h"

#include <cmath>

namespace warploom::cpu {

using Finalize = graph::BN_finalize_attributes;

BoundBatchnormFinalize::BoundBatchnormFinalize(std::shared_ptr<const NormGradientProgram> program,
                                               ir::ShapeTable shapes)
    : program_(std::move(program)) {
  const fusion::FusionGroup& group = program_->group;
  const ir::Node& node = group.node(group.anchor);
  const ir::Shape& sum = shapes[static_cast<size_t>(node.inputs[Finalize::SUM])];
  axes_ = row_axes(sum, sum.dims);
  for (ir::TensorId id : node.inputs) inputs_.emplace_back(group, shapes, id, axes_);
  for (ir::TensorId id : node.outputs) outputs_.emplace_back(group, shapes, id, axes_);
}

double BoundBatchnormFinalize::predicted_microseconds() const {
  Work work;
  work.scalar_operations = 64 * static_cast<double>(axes_.rows());
  return cpu::predicted_microseconds(work, program_->machine.kernels->level, 1);
}

error_t BoundBatchnormFinalize::launch(void*, std::span<void* const> pointers,
                                       void*) const noexcept {
  const KernelTable& kernels = *program_->machine.kernels;
  for (int64_t row = 0; row < axes_.rows(); ++row) {
    const auto in = [&](Finalize::Input port) {
      return inputs_[port].element(pointers, row, kernels);
    };
    const auto out = [&](Finalize::Output port, double value) {
      outputs_[port].set_element(pointers, row, value, kernels);
    };
    const double count = in(Finalize::ACCUM_COUNT), mean = in(Finalize::SUM) / count;
    const double difference = in(Finalize::SQ_SUM) / count - mean * mean;
    // What cancellation leaves may be below 0; NaN stays.
    const double variance = difference < 0 ? 0 : difference;
    const double inv_variance = 1 / std::sqrt(variance + in(Finalize::EPSILON));
    const double scale = in(Finalize::SCALE)*inv_variance;
    out(Finalize::EQ_SCALE, scale);
    out(Finalize::EQ_BIAS, in(Finalize::BIAS)-mean * scale);
    out(Finalize::MEAN, mean);
    out(Finalize::INV_VARIANCE, inv_variance);
    if (!inputs_[Finalize::MOMENTUM]) continue;
    const double momentum = in(Finalize::MOMENTUM);
    out(Finalize::NEXT_RUNNING_MEAN,
        (1 - momentum) * in(Finalize::PREV_RUNNING_MEAN) + momentum * mean);
    out(Finalize::NEXT_RUNNING_VAR, (1 - momentum) * in(Finalize::PREV_RUNNING_VAR) +
                                        momentum * (variance * count / (count - 1)));
  }
  return {};
}

}  // namespace warploom::cpu
