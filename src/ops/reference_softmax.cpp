#include <cmath>
#include <limits>

#include "ops/norm.h"
#include "ops/reference_families.h"

namespace warploom::ops {

using Softmax = graph::Softmax_attributes;

void reference(const Softmax& softmax, const ReferenceTensors& tensors) {
  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  const ReferenceTensor& p = tensors.inputs[Softmax::P];
  const ReferenceTensor& sink = tensors.inputs[Softmax::SINK];
  const size_t rank = p.shape->dims.size();
  FixedDims rows(p.shape->dims);
  rows[softmax_axis(softmax, rank)] = 1;
  const auto write = [&](size_t port, const Index& at, double value) {
    if (const ReferenceTensor& tensor = tensors.outputs[port])
      store(tensor, offset_of(*tensor.shape, at), value);
  };

  for_each_index(rows, [&](const Index& row) {
    const auto for_each_element = [&](auto&& function) {
      for_each_reduced_index(p.shape->dims, rows, row, [&](const Index& at) {
        function(at, load<double>(p, offset_of(*p.shape, at)));
      });
    };
    double maximum = kMinusInfinity, sum = 0;
    if (sink) maximum = load<double>(sink, broadcast_offset_of(*sink.shape, rank, row));
    const double sink_value = maximum;
    for_each_element(
        [&](const Index&, double value) { maximum = formula::maximum(maximum, value); });
    const bool is_empty = maximum == kMinusInfinity;
    if (!is_empty) {
      for_each_element([&](const Index&, double value) { sum += std::exp(value - maximum); });
      if (sink) sum += std::exp(sink_value - maximum);
    }
    write(Softmax::Max, row, maximum);
    write(Softmax::Sum_exp, row, sum);
    write(Softmax::Stats, row, is_empty ? kMinusInfinity : maximum + std::log(sum));
    for_each_element([&](const Index& at, double value) {
      write(Softmax::S, at, is_empty ? 0.0 : std::exp(value - maximum) / sum);
    });
  });
}

}  // namespace warploom::ops
