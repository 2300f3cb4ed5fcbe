#include <algorithm>

#include <fmt/format.h>

#include "ops/convolution_parts.h"
#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

// One part of a convolution that is being checked.
struct Part {
  ConvolutionPort at;
  const Site& site;
  const graph::Tensor_attributes& tensor;

  const Dims& dims() const { return tensor.get_dim(); }
  std::string text() const { return at.is_output ? site.output(at.port) : site.input(at.port); }
  std::string text(size_t dim, std::string_view meaning = "") const {
    return at.is_output ? site.output(at.port, dim, meaning) : site.input(at.port, dim, meaning);
  }
};

// The three parts and the fields, whichever of the convolutions it is.
struct Problem {
  const Site& site;
  const graph::ConvolutionFields& fields;
  Part x, w, y;

  template <Convolution Attributes>
  Problem(const Attributes& conv, const Site& checked)
      : site(checked),
        fields(conv),
        x(part(conv, kParts<Attributes>.x)),
        w(part(conv, kParts<Attributes>.w)),
        y(part(conv, kParts<Attributes>.y)) {}

 private:
  template <class Attributes>
  Part part(const Attributes& conv, ConvolutionPort port) const {
    return {port, site, *port.of(conv.inputs, conv.outputs)};
  }
};

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

error_t check_channels(const Site& site, const Part& x, const Part& w) {
  const int64_t channels = x.dims()[1], group_channels = w.dims()[1];
  const bool is_multiple =
      group_channels == 0 ? channels == 0 : channels > 0 && channels % group_channels == 0;
  if (!is_multiple)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, x.text(1, "channels"), show(channels),
                       fmt::format("a multiple of {}, dim 1 of {}", group_channels, w.text()));
  const int64_t groups = group_channels == 0 ? 1 : channels / group_channels;
  if (w.dims()[0] % groups != 0)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, w.text(0, "output channels"),
                       show(w.dims()[0]),
                       fmt::format("a multiple of {} groups ({} channels of {} over {} of {})",
                                   groups, channels, x.text(), group_channels, w.text()));
  return {};
}

error_t check(const Problem& problem) {
  const auto& [site, fields, x, w, y] = problem;
  // An image or filter that is the result cannot be inferred.
  for (const Part* part : {&x, &w})
    if (part->dims().empty())
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, part->text() + ", dims", "nothing set",
                         part == &x ? "the dims of the image" : "the dims of the filter");
  const size_t rank = x.dims().size();
  if (rank < 3 || rank > 5)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, x.text(), show(rank) + " dims",
                       "3 to 5: N, C and 1 to 3 spatial dimensions");
  if (w.dims().size() != rank)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, w.text(),
                       show(w.dims().size()) + " dims",
                       fmt::format("{}, as {} has", rank, x.text()));
  const size_t spatial = rank - 2;
  CHECK_WARPLOOM_ERROR(
      check_spatial_field(site, "pre_padding", fields.get_pre_padding(), spatial, 0));
  CHECK_WARPLOOM_ERROR(
      check_spatial_field(site, "post_padding", fields.get_post_padding(), spatial, 0));
  CHECK_WARPLOOM_ERROR(check_spatial_field(site, "stride", fields.get_stride(), spatial, 1));
  CHECK_WARPLOOM_ERROR(check_spatial_field(site, "dilation", fields.get_dilation(), spatial, 1));
  for (size_t i = 2; i < rank; ++i)
    if (w.dims()[i] < 1)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, w.text(i, "window"),
                         show(w.dims()[i]), "1 or more");
  return check_channels(site, x, w);
}

// The dims of Y, from those of X and W.
error_t infer_response(const Problem& problem, Dims& dims) {
  const auto& [site, fields, x, w, y] = problem;
  dims = {x.dims()[0], w.dims()[0]};
  for (size_t i = 2; i < x.dims().size(); ++i) {
    // Fields are unbounded, so the sums may not fit 64 bits.
    using Wide = __int128;
    const Wide window = Wide{fields.get_dilation()[i - 2]} * (w.dims()[i] - 1) + 1;
    const Wide padded =
        Wide{x.dims()[i]} + fields.get_pre_padding()[i - 2] + fields.get_post_padding()[i - 2];
    constexpr Wide kMost = INT64_MAX / 4;
    if (window > kMost || padded > kMost)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED,
                         fmt::format("spatial dimension {}", i - 2), "an extent beyond 2^61",
                         "paddings and dilation that fit");
    if (padded < window)
      return site.refuse(
          error_code_t::SHAPE_DEDUCTION_FAILED,
          fmt::format("spatial dimension {} ({})", i - 2, x.text(i)),
          fmt::format(
              "an extent of {} with padding, less than the window's {} (dilation {} x ({} - "
              "1) + 1)",
              static_cast<int64_t>(padded), static_cast<int64_t>(window),
              fields.get_dilation()[i - 2], w.dims()[i]),
          fmt::format("{} or more", static_cast<int64_t>(window)));
    dims.push_back(static_cast<int64_t>((padded - window) / fields.get_stride()[i - 2]) + 1);
  }
  return {};
}

// Of a gradient, whose dims are the user's: DY must be what the forward convolution gives.
error_t infer_gradient(const Problem& problem, graph::Tensor_attributes& output) {
  Dims response;
  CHECK_WARPLOOM_ERROR(infer_response(problem, response));
  const Part& y = problem.y;
  if (y.dims() != response)
    return problem.site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, y.text() + ", dims",
                               show(y.dims()),
                               fmt::format("{}, that of a convolution of {} {} with {} {}",
                                           show(response), problem.x.text(), show(problem.x.dims()),
                                           problem.w.text(), show(problem.w.dims())));
  return infer_nhwc(problem.site, 0, output, Dims(output.get_dim()));
}

}  // namespace

error_t validate(const graph::Conv_fprop_attributes& conv, const Site& site) {
  return check(Problem(conv, site));
}
error_t validate(const graph::Conv_dgrad_attributes& conv, const Site& site) {
  return check(Problem(conv, site));
}
error_t validate(const graph::Conv_wgrad_attributes& conv, const Site& site) {
  return check(Problem(conv, site));
}

error_t infer(graph::Conv_fprop_attributes& conv, const Site& site) {
  Dims y;
  CHECK_WARPLOOM_ERROR(infer_response(Problem(conv, site), y));
  return infer_nhwc(site, 0, *conv.outputs[0], y);
}
error_t infer(graph::Conv_dgrad_attributes& conv, const Site& site) {
  return infer_gradient(Problem(conv, site), *conv.outputs[0]);
}
error_t infer(graph::Conv_wgrad_attributes& conv, const Site& site) {
  return infer_gradient(Problem(conv, site), *conv.outputs[0]);
}

}  // namespace warploom::ops
