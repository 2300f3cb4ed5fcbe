// The normalizations of rows (layer, adaptive layer, instance, root mean
// square), and the gradients of all normalizations.
#include <fmt/format.h>

#include "ops/norm.h"
#include "ops/norm_axes.h"

namespace warploom::ops {
namespace {

using graph::TensorPtr;

template <class Attributes>
const Dims& dims_of(const Attributes& norm, size_t port) {
  return norm.inputs[port]->get_dim();
}

template <class Attributes>
constexpr bool kIsPerChannel = kNormAxes<Attributes> == NormAxes::kSpatial ||
                               kNormAxes<Attributes> == NormAxes::kAllButChannels;

// X and SCALE fit; the dims of statistics and parameters can be told from here
// on.
template <class Attributes>
error_t check_scale(const Attributes& norm, const Site& site) {
  const Dims& x = dims_of(norm, Attributes::X);
  if (kIsPerChannel<Attributes>) CHECK_WARPLOOM_ERROR(check_has_channels(site, Attributes::X, x));
  return check_repeats(site, Attributes::SCALE, norm.inputs[Attributes::SCALE],
                       kIsPerChannel<Attributes> ? channel_dims(x) : x);
}

template <class Attributes>
FixedDims statistics_of(const Attributes& norm) {
  return statistics_dims(kNormAxes<Attributes>, dims_of(norm, Attributes::X),
                         dims_of(norm, Attributes::SCALE));
}

template <class Attributes>
FixedDims parameters_of(const Attributes& norm) {
  return parameter_dims(kNormAxes<Attributes>, dims_of(norm, Attributes::X),
                        dims_of(norm, Attributes::SCALE));
}

// Statistics and gradients lie in the order of X, channels fastest, or
// row-major.
template <class Attributes>
Layout statistics_layout(const Attributes& norm) {
  const Dims dims = statistics_of(norm);
  if (kIsPerChannel<Attributes>) return {dims, nhwc_strides(dims)};
  return packed_like(dims, *norm.inputs[Attributes::X]);
}

template <class Attributes>
Layout gradient_layout(const Dims& dims) {
  constexpr bool kIsRowMajor = std::same_as<Attributes, graph::AdaLayernorm_backward_attributes>;
  return {dims, kIsRowMajor ? row_major_strides(dims) : nhwc_strides(dims)};
}

// Of the rank of X unless the user has set another with the same dims but for
// leading ones.
error_t infer_parameter(const Site& site, size_t port, const TensorPtr& output, Layout layout) {
  if (output && output->get_dim().size() < layout.dims.size() &&
      Dims(aligned_dims(output->get_dim(), layout.dims.size())) == layout.dims &&
      !output->get_dim().empty())
    layout = {output->get_dim(), nhwc_strides(output->get_dim())};
  return infer_layout(site, port, output, layout);
}

}  // namespace

error_t check_equal_dims(const Site& site, size_t port, const graph::Tensor_attributes& tensor,
                         size_t other_port, const graph::Tensor_attributes& other) {
  if (tensor.get_dim() == other.get_dim()) return {};
  return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port) + ", dims",
                     show(tensor.get_dim()),
                     fmt::format("{}, those of {}", show(other.get_dim()), site.input(other_port)));
}

error_t check_has_channels(const Site& site, size_t port, const Dims& dims) {
  if (dims.size() >= 2) return {};
  return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port),
                     show(dims.size()) + " dims", "2 or more: batch, channels, ...");
}

error_t check_one_element(const Site& site, size_t port, const TensorPtr& tensor) {
  if (!tensor || tensor->get_volume() == 1) return {};
  return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port) + ", dims",
                     show(tensor->get_dim()), "one element");
}

template <NormForward Attributes>
error_t validate(const Attributes& norm, const Site& site) {
  CHECK_WARPLOOM_ERROR(
      check_floating(site, norm.compute_data_type, norm.outputs, Attributes::Y + 1));
  CHECK_WARPLOOM_ERROR(check_scale(norm, site));
  CHECK_WARPLOOM_ERROR(
      check_repeats(site, Attributes::BIAS, norm.inputs[Attributes::BIAS], parameters_of(norm)));
  CHECK_WARPLOOM_ERROR(
      check_one_element(site, Attributes::EPSILON, norm.inputs[Attributes::EPSILON]));
  if (norm.get_forward_phase() == NormFwdPhase_t::TRAINING)
    for (size_t port = Attributes::Y + 1; port < norm.outputs.size(); ++port)
      if (!norm.outputs[port])
        return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.output(port),
                           "no tensor in phase TRAINING", "a tensor");
  return {};
}

template <NormForward Attributes>
error_t infer(Attributes& norm, const Site& site) {
  CHECK_WARPLOOM_ERROR(infer_layout(site, Attributes::Y, norm.outputs[Attributes::Y],
                                    layout_like(*norm.inputs[Attributes::X])));
  const Layout statistics = statistics_layout(norm);
  for (size_t port = Attributes::Y + 1; port < norm.outputs.size(); ++port)
    CHECK_WARPLOOM_ERROR(infer_layout(site, port, norm.outputs[port], statistics));
  return {};
}

template <NormBackward Attributes>
error_t validate(const Attributes& norm, const Site& site) {
  CHECK_WARPLOOM_ERROR(
      check_floating(site, norm.compute_data_type, norm.outputs, Attributes::DX + 1));
  if constexpr (requires { norm.get_peer_stats(); })
    CHECK_WARPLOOM_ERROR(check_peers(site, norm.get_peer_stats()));
  CHECK_WARPLOOM_ERROR(check_scale(norm, site));
  CHECK_WARPLOOM_ERROR(check_equal_dims(site, Attributes::DY, *norm.inputs[Attributes::DY],
                                        Attributes::X, *norm.inputs[Attributes::X]));
  const Dims statistics = statistics_of(norm);
  CHECK_WARPLOOM_ERROR(check_repeats(site, Attributes::INV_VARIANCE,
                                     norm.inputs[Attributes::INV_VARIANCE], statistics));
  if constexpr (requires { Attributes::MEAN; }) {
    const TensorPtr &mean = norm.inputs[Attributes::MEAN],
                    &inv_variance = norm.inputs[Attributes::INV_VARIANCE];
    CHECK_WARPLOOM_ERROR(check_repeats(site, Attributes::MEAN, mean, statistics));
    CHECK_WARPLOOM_ERROR(
        check_one_element(site, Attributes::EPSILON, norm.inputs[Attributes::EPSILON]));
    if (!mean != !inv_variance)
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET,
                         site.input(mean ? Attributes::INV_VARIANCE : Attributes::MEAN),
                         "no tensor", "MEAN and INV_VARIANCE, or neither and EPSILON");
    if (!mean && !norm.inputs[Attributes::EPSILON])
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(Attributes::MEAN), "no tensor",
                         "MEAN and INV_VARIANCE, or EPSILON to compute them with");
  } else {
    if (!norm.get_use_dbias() && !norm.outputs[Attributes::DBIAS])
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.field("use_dbias"), "nothing set",
                         "has_dbias(true) or has_dbias(false)");
  }
  return {};
}

template <NormBackward Attributes>
error_t infer(Attributes& norm, const Site& site) {
  CHECK_WARPLOOM_ERROR(infer_layout(site, Attributes::DX, norm.outputs[Attributes::DX],
                                    gradient_layout<Attributes>(dims_of(norm, Attributes::X))));
  for (size_t port : {Attributes::DSCALE, Attributes::DBIAS})
    CHECK_WARPLOOM_ERROR(infer_parameter(site, port, norm.outputs[port],
                                         gradient_layout<Attributes>(parameters_of(norm))));
  return {};
}

#define WARPLOOM_INSTANTIATE(Attributes)                            \
  template error_t validate(const graph::Attributes&, const Site&); \
  template error_t infer(graph::Attributes&, const Site&);
WARPLOOM_INSTANTIATE(Layernorm_attributes)
WARPLOOM_INSTANTIATE(Layernorm_backward_attributes)
WARPLOOM_INSTANTIATE(AdaLayernorm_attributes)
WARPLOOM_INSTANTIATE(AdaLayernorm_backward_attributes)
WARPLOOM_INSTANTIATE(Instancenorm_attributes)
WARPLOOM_INSTANTIATE(Instancenorm_backward_attributes)
WARPLOOM_INSTANTIATE(Rmsnorm_attributes)
WARPLOOM_INSTANTIATE(Rmsnorm_backward_attributes)
WARPLOOM_INSTANTIATE(Batchnorm_backward_attributes)
#undef WARPLOOM_INSTANTIATE

}  // namespace warploom::ops
