#include <algorithm>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using Conv = graph::Conv_fprop_attributes;

error_t check_spatial_field(const Site& site, std::string_view name,
                            const std::vector<int64_t>& values, size_t spatial, int64_t least) {
  if (values.size() != spatial)
    return site.refuse(error_code_t::INVALID_VALUE, site.field(name),
                       fmt::format("{} entries", values.size()),
                       fmt::format("{}, one for each spatial dimension", spatial));
  for (size_t i = 0; i < spatial; ++i)
    if (values[i] < least)
      return site.refuse(error_code_t::INVALID_VALUE, site.field(name, i), show(values[i]),
                         fmt::format("{} or more", least));
  return {};
}

error_t check_channels(const Site& site, const Dims& x, const Dims& w) {
  const bool is_multiple = w[1] == 0 ? x[1] == 0 : x[1] > 0 && x[1] % w[1] == 0;
  if (!is_multiple)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Conv::X, 1, "channels"),
                       show(x[1]),
                       fmt::format("a multiple of {}, dim 1 of {}", w[1], site.input(Conv::W)));
  const int64_t groups = w[1] == 0 ? 1 : x[1] / w[1];
  if (w[0] % groups != 0)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED,
                       site.input(Conv::W, 0, "output channels"), show(w[0]),
                       fmt::format("a multiple of {} groups ({} channels of {} over {} of {})",
                                   groups, x[1], site.input(Conv::X), w[1], site.input(Conv::W)));
  return {};
}

}  // namespace

error_t validate(const Conv& conv, const Site& site) {
  const Dims& x = conv.inputs[Conv::X]->get_dim();
  const Dims& w = conv.inputs[Conv::W]->get_dim();
  if (x.size() < 3 || x.size() > 5)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Conv::X),
                       show(x.size()) + " dims", "3 to 5: N, C and 1 to 3 spatial dimensions");
  if (w.size() != x.size())
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Conv::W),
                       show(w.size()) + " dims",
                       fmt::format("{}, as {} has", x.size(), site.input(Conv::X)));
  const size_t spatial = x.size() - 2;
  CHECK_WARPLOOM_ERROR(
      check_spatial_field(site, "pre_padding", conv.get_pre_padding(), spatial, 0));
  CHECK_WARPLOOM_ERROR(
      check_spatial_field(site, "post_padding", conv.get_post_padding(), spatial, 0));
  CHECK_WARPLOOM_ERROR(check_spatial_field(site, "stride", conv.get_stride(), spatial, 1));
  CHECK_WARPLOOM_ERROR(check_spatial_field(site, "dilation", conv.get_dilation(), spatial, 1));
  for (size_t i = 2; i < w.size(); ++i)
    if (w[i] < 1)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Conv::W, i, "window"),
                         show(w[i]), "1 or more");
  return check_channels(site, x, w);
}

error_t infer(Conv& conv, const Site& site) {
  const Dims& x = conv.inputs[Conv::X]->get_dim();
  const Dims& w = conv.inputs[Conv::W]->get_dim();
  Dims y{x[0], w[0]};
  for (size_t i = 2; i < x.size(); ++i) {
    // Fields are unbounded, so the sums may not fit 64 bits.
    using Wide = __int128;
    const Wide window = Wide{conv.get_dilation()[i - 2]} * (w[i] - 1) + 1;
    const Wide padded = Wide{x[i]} + conv.get_pre_padding()[i - 2] + conv.get_post_padding()[i - 2];
    constexpr Wide kMost = INT64_MAX / 4;
    if (window > kMost || padded > kMost)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED,
                         fmt::format("spatial dimension {}", i - 2), "an extent beyond 2^61",
                         "paddings and dilation that fit");
    if (padded < window)
      return site.refuse(
          error_code_t::SHAPE_DEDUCTION_FAILED,
          fmt::format("spatial dimension {} ({})", i - 2, site.input(Conv::X, i)),
          fmt::format(
              "an extent of {} with padding, less than the window's {} (dilation {} x ({} - "
              "1) + 1)",
              static_cast<int64_t>(padded), static_cast<int64_t>(window),
              conv.get_dilation()[i - 2], w[i]),
          fmt::format("{} or more", static_cast<int64_t>(window)));
    y.push_back(static_cast<int64_t>((padded - window) / conv.get_stride()[i - 2]) + 1);
  }
  graph::Tensor_attributes& output = *conv.outputs[Conv::Y];
  CHECK_WARPLOOM_ERROR(infer_dims(site, Conv::Y, output, y));
  if (output.get_stride().empty()) output.set_stride(nhwc_strides(y));
  return {};
}

}  // namespace warploom::ops
