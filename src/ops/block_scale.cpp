#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/data_type.h"
#include "base/float8.h"
#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using Quantize = graph::Block_scale_quantize_attributes;
using Dequantize = graph::Block_scale_dequantize_attributes;
using graph::Tensor_attributes;

bool is_small_float(DataType_t type) {
  return base::is_small_floating(type) && type != DataType_t::FP8_E8M0;
}

error_t check_small_type(const Site& site, const std::string& subject, DataType_t type,
                         bool is_accepted, std::string_view accepted) {
  if (is_accepted) return {};
  return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, subject + ", data type", show(type),
                     accepted);
}

constexpr std::string_view kScaleTypes =
    "FP8_E8M0, FP8_E4M3, FP8_E5M2, FLOAT, HALF, BFLOAT16 or DOUBLE";

bool is_scale(DataType_t type) {
  return base::is_floating(type) || (base::is_small_floating(type) && type != DataType_t::FP4_E2M1);
}

// A reordered tensor may be declared with the rows and columns that its tiles have room for.
error_t check_scale_dims(const Site& site, const std::string& subject,
                         const Tensor_attributes& scale, const Dims& needed) {
  const Dims& found = scale.get_dim();
  bool fits = found.size() == needed.size();
  for (size_t i = 0; fits && i < needed.size(); ++i) {
    const bool is_tiled =
        scale.get_reordering_type() == TensorReordering_t::F8_128x4 && i + 2 >= needed.size();
    fits = is_tiled ? found[i] >= needed[i] && found[i] <= (needed[i] + 127) / 128 * 128
                    : found[i] == needed[i];
  }
  if (fits) return {};
  return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, subject + ", dims", show(found),
                     show(needed) + ", one scale for each block");
}

size_t axis_of(const Quantize& quantize) {
  const size_t rank = quantize.inputs[Quantize::X]->get_dim().size();
  return quantize.get_axis() ? static_cast<size_t>(*quantize.get_axis()) : rank - 1;
}

}  // namespace

error_t validate(const Quantize& quantize, const Site& site) {
  const Dims& x = quantize.inputs[Quantize::X]->get_dim();
  const int64_t block = *quantize.get_block_size();
  if (block < 1)
    return site.refuse(error_code_t::INVALID_VALUE, site.field("block_size"), show(block),
                       "1 or more");
  const int64_t rank = static_cast<int64_t>(x.size());
  const int64_t axis = quantize.get_axis().value_or(rank - 1);
  if (axis < 0 || axis >= rank)
    return site.refuse(error_code_t::INVALID_VALUE, site.field("axis"), show(axis),
                       fmt::format("0 to {}, a dim of {}", rank - 1, site.input(Quantize::X)));
  if (quantize.get_transpose() && rank < 2)
    return site.refuse(error_code_t::INVALID_VALUE, site.field("transpose"), "true",
                       "false for a tensor of one dim");
  if (x[axis_of(quantize)] % block != 0)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED,
                       site.input(Quantize::X, axis_of(quantize)), show(x[axis_of(quantize)]),
                       fmt::format("a multiple of {}, the block size", block));
  const DataType_t y = quantize.outputs[Quantize::Y]->get_data_type();
  CHECK_WARPLOOM_ERROR(check_small_type(site, site.output(Quantize::Y), y, is_small_float(y),
                                        "FP8_E4M3, FP8_E5M2 or FP4_E2M1"));
  const DataType_t scale = quantize.outputs[Quantize::Scale]->get_data_type();
  return check_small_type(site, site.output(Quantize::Scale), scale, is_scale(scale), kScaleTypes);
}

error_t infer(Quantize& quantize, const Site& site) {
  const Tensor_attributes& x = *quantize.inputs[Quantize::X];
  Tensor_attributes& y = *quantize.outputs[Quantize::Y];
  Tensor_attributes& scale = *quantize.outputs[Quantize::Scale];
  CHECK_WARPLOOM_ERROR(infer_dims(site, Quantize::Y, y, x.get_dim()));
  Dims order = x.get_stride();
  if (quantize.get_transpose()) std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (y.get_stride().empty()) y.set_stride(strides_in_order_of(y.get_dim(), order));
  Dims blocks = x.get_dim();
  blocks[axis_of(quantize)] /= *quantize.get_block_size();
  if (scale.get_dim().empty()) scale.set_dim(blocks);
  CHECK_WARPLOOM_ERROR(check_scale_dims(site, site.output(Quantize::Scale), scale, blocks));
  CHECK_WARPLOOM_ERROR(infer_dims(site, Quantize::Scale, scale, Dims(scale.get_dim())));
  if (scale.get_stride().empty())
    scale.set_stride(strides_in_order_of(scale.get_dim(), y.get_stride()));
  return {};
}

error_t validate(const Dequantize& dequantize, const Site& site) {
  const Tensor_attributes& x = *dequantize.inputs[Dequantize::X];
  const Tensor_attributes& scale = *dequantize.inputs[Dequantize::Scale];
  if (dequantize.get_is_negative_scale())
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.field("is_negative_scale"), "true",
                       "false");
  const std::vector<int64_t>& sizes = dequantize.get_block_size();
  if (sizes.size() > x.get_dim().size())
    return site.refuse(error_code_t::INVALID_VALUE, site.field("block_size"), show(sizes),
                       fmt::format("at most {} entries, for the trailing dims of {}",
                                   x.get_dim().size(), site.input(Dequantize::X)));
  Dims blocks = x.get_dim();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1)
      return site.refuse(error_code_t::INVALID_VALUE, site.field("block_size", i), show(sizes[i]),
                         "1 or more");
    int64_t& extent = blocks[blocks.size() - sizes.size() + i];
    extent = extent / sizes[i] + (extent % sizes[i] != 0 ? 1 : 0);
  }
  CHECK_WARPLOOM_ERROR(check_small_type(site, site.input(Dequantize::Scale), scale.get_data_type(),
                                        is_scale(scale.get_data_type()), kScaleTypes));
  return check_scale_dims(site, site.input(Dequantize::Scale), scale, blocks);
}

error_t infer(Dequantize& dequantize, const Site& site) {
  const Tensor_attributes& x = *dequantize.inputs[Dequantize::X];
  Tensor_attributes& y = *dequantize.outputs[Dequantize::Y];
  CHECK_WARPLOOM_ERROR(infer_dims(site, Dequantize::Y, y, x.get_dim()));
  if (!y.get_stride().empty()) return {};
  const bool repeats = elements_overlap(x.get_dim(), x.get_stride());
  y.set_stride(repeats ? strides_in_order_of(x.get_dim(), x.get_stride()) : x.get_stride());
  return {};
}

}  // namespace warploom::ops
