#include <algorithm>
#include <cmath>

#include "base/float8.h"
#include "ops/reference_families.h"

namespace warploom::ops {
namespace {

using Quantize = graph::Block_scale_quantize_attributes;
using Dequantize = graph::Block_scale_dequantize_attributes;

double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
}

}  // namespace

void reference(const Quantize& quantize, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[Quantize::X];
  const ReferenceTensor& y = tensors.outputs[Quantize::Y];
  const ReferenceTensor& scale = tensors.outputs[Quantize::Scale];
  const size_t axis =
      quantize.get_axis() ? static_cast<size_t>(*quantize.get_axis()) : x.shape->dims.size() - 1;
  const int64_t size = *quantize.get_block_size();
  for_each_index(scale.shape->dims, [&](const Index& block) {
    Index at = block;
    bool is_block = true;  // not so in a tile's unused rows and columns
    for (size_t i = 0; i < x.shape->dims.size(); ++i)
      is_block &= block[i] < (i == axis ? x.shape->dims[i] / size : x.shape->dims[i]);
    const int64_t scale_at = offset_of(scale, block);
    if (!is_block) return store(scale, scale_at, 0.0);
    const auto for_each_element = [&](auto&& function) {
      for (at[axis] = block[axis] * size; at[axis] < (block[axis] + 1) * size; ++at[axis])
        function();
    };
    double greatest = 0;
    for_each_element(
        [&] { greatest = larger(greatest, std::fabs(load<double>(x, offset_of(x, at)))); });
    const double exact = greatest / base::greatest(y.type);
    store(scale, scale_at,
          scale.type == DataType_t::FP8_E8M0 ? base::round_up_to_power_of_two(exact) : exact);
    const double divisor = load<double>(scale, scale_at);
    for_each_element([&] {
      const double value = load<double>(x, offset_of(x, at));
      store(y, offset_of(y, at), divisor == 0 ? 0.0 : value / divisor);
    });
  });
}

void reference(const Dequantize& dequantize, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[Dequantize::X];
  const ReferenceTensor& scale = tensors.inputs[Dequantize::Scale];
  const ReferenceTensor& y = tensors.outputs[Dequantize::Y];
  const std::vector<int64_t>& sizes = dequantize.get_block_size();
  const size_t first = x.shape->dims.size() - sizes.size();
  for_each_index(x.shape->dims, [&](const Index& at) {
    Index block = at;
    for (size_t i = 0; i < sizes.size(); ++i) block[first + i] /= sizes[i];
    store(y, offset_of(y, at),
          load<double>(x, offset_of(x, at)) * load<double>(scale, offset_of(scale, block)));
  });
}

}  // namespace warploom::ops
