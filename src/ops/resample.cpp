#include <fmt/format.h>

#include "base/data_type.h"
#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using Forward = graph::Resample_attributes;
using Backward = graph::Resample_backward_attributes;

// X and Y of either direction, each with how messages name it.
struct Pooling {
  const Site& site;
  const graph::ResampleFields& fields;
  const Dims& x;
  std::string x_name;
};

error_t check_pooling_field(const Pooling& pooling, std::string_view name,
                            const std::vector<int64_t>& values, int64_t least) {
  const size_t spatial = pooling.x.size() - 2;
  if (values.size() != spatial)
    return pooling.site.refuse(error_code_t::INVALID_VALUE, pooling.site.field(name),
                               fmt::format("{} entries", values.size()),
                               fmt::format("{}, one for each spatial dimension", spatial));
  for (size_t i = 0; i < spatial; ++i)
    if (values[i] < least)
      return pooling.site.refuse(error_code_t::INVALID_VALUE, pooling.site.field(name, i),
                                 show(values[i]), fmt::format("a whole number, {} or more", least));
  return {};
}

error_t check_fields(const Pooling& pooling) {
  const auto& [site, fields, x, x_name] = pooling;
  if (x.size() < 3 || x.size() > 5)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, x_name, show(x.size()) + " dims",
                       "3 to 5: N, C and 1 to 3 spatial dimensions");
  const ResampleMode_t mode = fields.get_resample_mode();
  if (mode == ResampleMode_t::BILINEAR || mode == ResampleMode_t::NEAREST)
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.field("resample_mode"), show(mode),
                       "MAXPOOL, AVGPOOL_EXCLUDE_PADDING or AVGPOOL_INCLUDE_PADDING");
  CHECK_WARPLOOM_ERROR(check_pooling_field(pooling, "pre_padding", fields.get_pre_padding(), 0));
  CHECK_WARPLOOM_ERROR(check_pooling_field(pooling, "post_padding", fields.get_post_padding(), 0));
  CHECK_WARPLOOM_ERROR(check_pooling_field(pooling, "stride", fields.get_stride(), 1));
  return check_pooling_field(pooling, "window", fields.get_window(), 1);
}

// The dims of Y.
error_t infer_pooled(const Pooling& pooling, Dims& y) {
  const auto& [site, fields, x, x_name] = pooling;
  y = {x[0], x[1]};
  for (size_t i = 2; i < x.size(); ++i) {
    // Fields are unbounded, so the sum may not fit 64 bits.
    using Wide = __int128;
    const int64_t window = fields.get_window()[i - 2];
    const Wide padded =
        Wide{x[i]} + fields.get_pre_padding()[i - 2] + fields.get_post_padding()[i - 2];
    if (padded > INT64_MAX / 4)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED,
                         fmt::format("spatial dimension {}", i - 2), "an extent beyond 2^61",
                         "paddings that fit");
    if (padded < window || x[i] == 0)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED,
                         fmt::format("spatial dimension {} ({}, dim {})", i - 2, x_name, i),
                         x[i] == 0 ? "no elements"
                                   : fmt::format("an extent of {} with padding, less than the "
                                                 "window's {}",
                                                 static_cast<int64_t>(padded), window),
                         fmt::format("{} or more", window));
    y.push_back(static_cast<int64_t>((padded - window) / fields.get_stride()[i - 2]) + 1);
  }
  return {};
}

// The number up to which a type holds every whole number.
int64_t last_exact(DataType_t type) {
  switch (type) {
    case DataType_t::INT8:
      return INT8_MAX;
    case DataType_t::UINT8:
      return UINT8_MAX;
    case DataType_t::BFLOAT16:
      return 256;
    case DataType_t::HALF:
      return 2048;
    case DataType_t::FLOAT:
      return 1 << 24;
    case DataType_t::INT32:
      return INT32_MAX;
    default:
      return base::is_floating(type) || base::is_integer(type) ? int64_t{1} << 53 : 0;
  }
}

error_t check_index(const Site& site, const std::string& subject, const graph::TensorPtr& index,
                    const graph::ResampleFields& fields) {
  int64_t last = 1;
  bool fits = index->get_data_type() != DataType_t::BOOLEAN;
  for (int64_t extent : fields.get_window()) fits &= !__builtin_mul_overflow(last, extent, &last);
  if (fits && last - 1 <= last_exact(index->get_data_type())) return {};
  return site.refuse(
      error_code_t::INVALID_VALUE, subject + ", data type", show(index->get_data_type()),
      fmt::format("one that holds every position in a window of {}", show(fields.get_window())));
}

Pooling pooling_of(const Forward& resample, const Site& site) {
  return {site, resample, resample.inputs[Forward::X]->get_dim(), site.input(Forward::X)};
}
Pooling pooling_of(const Backward& resample, const Site& site) {
  return {site, resample, resample.outputs[Backward::DX]->get_dim(), site.output(Backward::DX)};
}

}  // namespace

error_t validate(const Forward& resample, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_fields(pooling_of(resample, site)));
  const graph::TensorPtr& index = resample.outputs[Forward::Index];
  if (!index) return {};
  if (resample.get_resample_mode() != ResampleMode_t::MAXPOOL)
    return site.refuse(error_code_t::INVALID_VALUE, site.output(Forward::Index), "a tensor",
                       "none, unless resample_mode is MAXPOOL");
  return check_index(site, site.output(Forward::Index), index, resample);
}

error_t infer(Forward& resample, const Site& site) {
  Dims y;
  CHECK_WARPLOOM_ERROR(infer_pooled(pooling_of(resample, site), y));
  for (size_t port : {Forward::Y, Forward::Index})
    if (resample.outputs[port])
      CHECK_WARPLOOM_ERROR(infer_nhwc(site, port, *resample.outputs[port], y));
  return {};
}

error_t validate(const Backward& resample, const Site& site) {
  if (resample.outputs[Backward::DX]->get_dim().empty())
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.output(Backward::DX) + ", dims",
                       "nothing set", "the dims of what was pooled");
  CHECK_WARPLOOM_ERROR(check_fields(pooling_of(resample, site)));
  const graph::TensorPtr& index = resample.inputs[Backward::Index];
  const bool is_maximum = resample.get_resample_mode() == ResampleMode_t::MAXPOOL;
  if (is_maximum != (index != nullptr))
    return site.refuse(
        is_maximum ? error_code_t::ATTRIBUTE_NOT_SET : error_code_t::INVALID_VALUE,
        site.input(Backward::Index), index ? "a tensor" : "no tensor",
        index ? "none, unless resample_mode is MAXPOOL" : "the Index of the forward operation");
  if (!index) return {};
  CHECK_WARPLOOM_ERROR(check_index(site, site.input(Backward::Index), index, resample));
  const Dims& dy = resample.inputs[Backward::DY]->get_dim();
  if (index->get_dim() == dy) return {};
  return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Backward::Index) + ", dims",
                     show(index->get_dim()),
                     fmt::format("{}, those of {}", show(dy), site.input(Backward::DY)));
}

error_t infer(Backward& resample, const Site& site) {
  const Pooling pooling = pooling_of(resample, site);
  Dims y;
  CHECK_WARPLOOM_ERROR(infer_pooled(pooling, y));
  const Dims& dy = resample.inputs[Backward::DY]->get_dim();
  if (dy != y)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Backward::DY) + ", dims",
                       show(dy), fmt::format("{}, those of {} pooled", show(y), pooling.x_name));
  return infer_nhwc(site, Backward::DX, *resample.outputs[Backward::DX], Dims(pooling.x));
}

}  // namespace warploom::ops
