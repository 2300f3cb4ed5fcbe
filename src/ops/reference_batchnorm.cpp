#include <algorithm>
#include <cmath>

#include "ops/norm_axes.h"
#include "ops/reference_families.h"
#include "ops/reference_norm.h"

namespace warploom::ops {
namespace {

using Batchnorm = graph::Batchnorm_attributes;
using Inference = graph::Batchnorm_inference_attributes;
using Weight = graph::DBN_weight_attributes;
using Genstats = graph::Genstats_attributes;
using Finalize = graph::BN_finalize_attributes;

/// The tensors of one operation at one channel.
class Channel {
 public:
  Channel(const ReferenceTensors& tensors, size_t rank, const Index& at)
      : tensors_(tensors), rank_(rank), at_(at) {}

  double in(size_t port) const {
    const ReferenceTensor& tensor = tensors_.inputs[port];
    return load<double>(tensor, broadcast_offset_of(*tensor.shape, rank_, at_));
  }
  void out(size_t port, double value) const {
    if (const ReferenceTensor& tensor = tensors_.outputs[port])
      store(tensor, broadcast_offset_of(*tensor.shape, rank_, at_), value);
  }

 private:
  const ReferenceTensors& tensors_;
  size_t rank_;
  const Index& at_;
};

template <class Attributes>
void write_statistics(const ReferenceTensors& tensors, const Channel& channel, const Moments& found,
                      double inv_variance) {
  channel.out(Attributes::MEAN, found.mean);
  channel.out(Attributes::INV_VARIANCE, inv_variance);
  if (!tensors.inputs[Attributes::MOMENTUM]) return;
  const double momentum = load_one(tensors.inputs[Attributes::MOMENTUM]);
  const double unbiased = found.variance * found.count / (found.count - 1);
  channel.out(Attributes::NEXT_RUNNING_MEAN,
              (1 - momentum) * channel.in(Attributes::PREV_RUNNING_MEAN) + momentum * found.mean);
  channel.out(Attributes::NEXT_RUNNING_VAR,
              (1 - momentum) * channel.in(Attributes::PREV_RUNNING_VAR) + momentum * unbiased);
}

}  // namespace

void reference(const Batchnorm&, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[Batchnorm::X];
  const size_t rank = x.shape->dims.size();
  const double epsilon = load_one(tensors.inputs[Batchnorm::EPSILON]);
  const ForwardNorm norm{x, tensors.inputs[Batchnorm::SCALE], tensors.inputs[Batchnorm::BIAS],
                         tensors.outputs[Batchnorm::Y], channel_dims(x.shape->dims)};
  normalize(norm, [&](const Index& at) {
    const Moments found = moments(x, norm.statistics, at, true);
    const double inv_variance = 1 / std::sqrt(found.variance + epsilon);
    write_statistics<Batchnorm>(tensors, Channel(tensors, rank, at), found, inv_variance);
    return std::pair(found.mean, inv_variance);
  });
}

void reference(const Inference&, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[Inference::X];
  const ForwardNorm norm{x, tensors.inputs[Inference::SCALE], tensors.inputs[Inference::BIAS],
                         tensors.outputs[Inference::Y], channel_dims(x.shape->dims)};
  normalize(norm, [&](const Index& at) {
    const Channel channel(tensors, x.shape->dims.size(), at);
    return std::pair(channel.in(Inference::MEAN), channel.in(Inference::INV_VARIANCE));
  });
}

void reference(const Genstats&, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[Genstats::X];
  const FixedDims channels = channel_dims(x.shape->dims);
  for_each_index(channels, [&](const Index& at) {
    double sum = 0, sum_of_squares = 0;
    for_each_reduced_index(x.shape->dims, channels, at, [&](const Index& index) {
      const double value = load<double>(x, offset_of(*x.shape, index));
      sum += value;
      sum_of_squares += value * value;
    });
    const Channel channel(tensors, channels.size(), at);
    channel.out(Genstats::SUM, sum);
    channel.out(Genstats::SQ_SUM, sum_of_squares);
  });
}

void reference(const Finalize&, const ReferenceTensors& tensors) {
  const std::vector<int64_t>& dims = tensors.inputs[Finalize::SUM].shape->dims;
  const double epsilon = load_one(tensors.inputs[Finalize::EPSILON]);
  for_each_index(dims, [&](const Index& at) {
    const Channel channel(tensors, dims.size(), at);
    Moments found{.count = load_one(tensors.inputs[Finalize::ACCUM_COUNT])};
    found.mean = channel.in(Finalize::SUM) / found.count;
    const double difference = channel.in(Finalize::SQ_SUM) / found.count - found.mean * found.mean;
    // What cancellation leaves may be below 0; NaN stays.
    found.variance = difference < 0 ? 0 : difference;
    const double inv_variance = 1 / std::sqrt(found.variance + epsilon);
    const double scale = channel.in(Finalize::SCALE)*inv_variance;
    channel.out(Finalize::EQ_SCALE, scale);
    channel.out(Finalize::EQ_BIAS, channel.in(Finalize::BIAS)-found.mean * scale);
    write_statistics<Finalize>(tensors, channel, found, inv_variance);
  });
}

void reference(const Weight&, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[Weight::X];
  const ReferenceTensor& dy = tensors.inputs[Weight::DY];
  const FixedDims channels = channel_dims(x.shape->dims);
  for_each_index(channels, [&](const Index& at) {
    const Channel channel(tensors, channels.size(), at);
    const double mean = channel.in(Weight::MEAN), inv_variance = channel.in(Weight::INV_VARIANCE);
    double count = 0, dscale = 0, dbias = 0;
    for_each_reduced_index(x.shape->dims, channels, at, [&](const Index& index) {
      const double gradient = load<double>(dy, offset_of(*dy.shape, index));
      count += 1;
      dbias += gradient;
      dscale += gradient * (load<double>(x, offset_of(*x.shape, index)) - mean) * inv_variance;
    });
    const double of_dy = channel.in(Weight::SCALE)*inv_variance;
    const double of_x = -of_dy * inv_variance * dscale / count;
    channel.out(Weight::DSCALE, dscale);
    channel.out(Weight::DBIAS, dbias);
    channel.out(Weight::EQ_SCALE_DY, of_dy);
    channel.out(Weight::EQ_SCALE_X, of_x);
    channel.out(Weight::EQ_BIAS, -of_dy * dbias / count - of_x * mean);
  });
}

}  // namespace warploom::ops
