#include "ops/reference_norm.h"

#include <cmath>
#include <limits>

#include "ops/norm_axes.h"
#include "ops/reference_families.h"

namespace warploom::ops {

double load_at(const ReferenceTensor& tensor, size_t rank, const Index& at) {
  return load<double>(tensor, broadcast_offset_of(*tensor.shape, rank, at));
}

void store_at(const ReferenceTensor& tensor, size_t rank, const Index& at, double value) {
  if (tensor) store(tensor, broadcast_offset_of(*tensor.shape, rank, at), value);
}

double load_one(const ReferenceTensor& tensor) {
  return load<double>(tensor, 0);
}

Moments moments(const ReferenceTensor& x, const FixedDims& statistics, const Index& at,
                bool is_centered) {
  Moments found;
  const auto for_each_value = [&](auto&& function) {
    for_each_reduced_index(x.shape->dims, statistics, at, [&](const Index& index) {
      function(load<double>(x, offset_of(*x.shape, index)));
    });
  };
  for_each_value([&](double value) { found.count += 1, found.mean += value; });
  found.mean = is_centered ? found.mean / found.count : 0;
  for_each_value(
      [&](double value) { found.variance += (value - found.mean) * (value - found.mean); });
  found.variance /= found.count;
  return found;
}

void differentiate(const BackwardNorm& norm, double* scratch) {
  const std::vector<int64_t>& dims = norm.x.shape->dims;
  const size_t rank = dims.size();
  // Statistics and sums of the gradient, by position of the statistic.
  double *means = scratch, *inv_variances = scratch + norm.statistics.volume();
  const auto normalized = [&](const Index& index) {
    const int64_t at = norm.statistics.position(index);
    return (load_at(norm.x, rank, index) - means[at]) * inv_variances[at];
  };

  for_each_index(norm.statistics, [&](const Index& at) {
    const int64_t place = norm.statistics.position(at);
    if (norm.inv_variance) {
      means[place] = norm.mean ? load_at(norm.mean, rank, at) : 0;
      inv_variances[place] = load_at(norm.inv_variance, rank, at);
    } else {
      const Moments found = moments(norm.x, norm.statistics, at, norm.is_centered);
      means[place] = found.mean;
      inv_variances[place] = 1 / std::sqrt(found.variance + norm.epsilon);
    }
    if (!norm.dx) return;
    double elements = 0, sum = 0, sum_of_products = 0;
    const auto gradient = [&](const Index& index) {
      return load_at(norm.dy, rank, index) * load_at(norm.scale, rank, index);
    };
    for_each_reduced_index(dims, norm.statistics, at, [&](const Index& index) {
      elements += 1;
      if (norm.is_centered) sum += gradient(index);
      sum_of_products += gradient(index) * normalized(index);
    });
    for_each_reduced_index(dims, norm.statistics, at, [&](const Index& index) {
      store_at(norm.dx, rank, index,
               inv_variances[place] * (gradient(index) - sum / elements -
                                       normalized(index) * sum_of_products / elements));
    });
  });

  for_each_index(norm.parameters, [&](const Index& at) {
    double scale = 0, bias = 0;
    for_each_reduced_index(dims, norm.parameters, at, [&](const Index& index) {
      const double dy = load_at(norm.dy, rank, index);
      scale += dy * normalized(index);
      bias += dy;
    });
    store_at(norm.dscale, rank, at, scale);
    store_at(norm.dbias, rank, at, bias);
  });
}

template <NormForward Attributes>
void reference(const Attributes&, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[Attributes::X];
  const ReferenceTensor& scale = tensors.inputs[Attributes::SCALE];
  const size_t rank = x.shape->dims.size();
  const ForwardNorm norm{x, scale, tensors.inputs[Attributes::BIAS], tensors.outputs[Attributes::Y],
                         statistics_dims(kNormAxes<Attributes>, x.shape->dims, scale.shape->dims)};
  const double epsilon = load_one(tensors.inputs[Attributes::EPSILON]);
  normalize(norm, [&](const Index& at) {
    const Moments found = moments(x, norm.statistics, at, kIsCentered<Attributes>);
    const double inv_variance = 1 / std::sqrt(found.variance + epsilon);
    if constexpr (requires { Attributes::MEAN; })
      store_at(tensors.outputs[Attributes::MEAN], rank, at, found.mean);
    store_at(tensors.outputs[Attributes::INV_VARIANCE], rank, at, inv_variance);
    return std::pair(found.mean, inv_variance);
  });
}

template <NormBackward Attributes>
void reference(const Attributes&, const ReferenceTensors& tensors, double* scratch) {
  const ReferenceTensor& x = tensors.inputs[Attributes::X];
  const ReferenceTensor& scale = tensors.inputs[Attributes::SCALE];
  BackwardNorm norm{
      .dy = tensors.inputs[Attributes::DY],
      .x = x,
      .scale = scale,
      .mean = {},
      .inv_variance = tensors.inputs[Attributes::INV_VARIANCE],
      .dx = tensors.outputs[Attributes::DX],
      .dscale = tensors.outputs[Attributes::DSCALE],
      .dbias = tensors.outputs[Attributes::DBIAS],
      .statistics = statistics_dims(kNormAxes<Attributes>, x.shape->dims, scale.shape->dims),
      .parameters = parameter_dims(kNormAxes<Attributes>, x.shape->dims, scale.shape->dims),
      .epsilon = 0,
      .is_centered = kIsCentered<Attributes>};
  if constexpr (requires { Attributes::MEAN; }) {
    norm.mean = tensors.inputs[Attributes::MEAN];
    if (const ReferenceTensor& epsilon = tensors.inputs[Attributes::EPSILON])
      norm.epsilon = load_one(epsilon);
  }
  differentiate(norm, scratch);
}

template <NormBackward Attributes>
ElementCount scratch_elements(const Attributes&, const ReferenceTensors& tensors) {
  ElementCount elements = 2;
  for (int64_t dim :
       statistics_dims(kNormAxes<Attributes>, tensors.inputs[Attributes::X].shape->dims,
                       tensors.inputs[Attributes::SCALE].shape->dims))
    elements *= dim;
  return elements;
}

#define WARPLOOM_INSTANTIATE(Norm)                                                           \
  template void reference(const graph::Norm##_attributes&, const ReferenceTensors&);         \
  template void reference(const graph::Norm##_backward_attributes&, const ReferenceTensors&, \
                          double*);                                                          \
  template ElementCount scratch_elements(const graph::Norm##_backward_attributes&,           \
                                         const ReferenceTensors&);
WARPLOOM_INSTANTIATE(Layernorm)
WARPLOOM_INSTANTIATE(AdaLayernorm)
WARPLOOM_INSTANTIATE(Instancenorm)
WARPLOOM_INSTANTIATE(Rmsnorm)
#undef WARPLOOM_INSTANTIATE
template void reference(const graph::Batchnorm_backward_attributes&, const ReferenceTensors&,
                        double*);
template ElementCount scratch_elements(const graph::Batchnorm_backward_attributes&,
                                       const ReferenceTensors&);

}  // namespace warploom::ops
