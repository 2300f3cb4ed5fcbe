#include "ops/norm.h"
#include "ops/norm_axes.h"

namespace warploom::ops {
namespace {

using graph::TensorPtr;
using Batchnorm = graph::Batchnorm_attributes;
using Inference = graph::Batchnorm_inference_attributes;
using Weight = graph::DBN_weight_attributes;
using Genstats = graph::Genstats_attributes;
using Finalize = graph::BN_finalize_attributes;

const Dims& dims_of(const TensorPtr& tensor) {
  return tensor->get_dim();
}

/// Every one of the ports repeats over `dims`.
template <class Attributes>
error_t check_all_repeat(const Attributes& attributes, const Site& site,
                         std::initializer_list<size_t> ports, const Dims& dims) {
  for (size_t port : ports)
    CHECK_WARPLOOM_ERROR(check_repeats(site, port, attributes.inputs[port], dims));
  return {};
}

template <class Attributes>
error_t infer_all(Attributes& attributes, const Site& site, size_t first_port,
                  const Layout& layout) {
  for (size_t port = first_port; port < attributes.outputs.size(); ++port)
    CHECK_WARPLOOM_ERROR(infer_layout(site, port, attributes.outputs[port], layout));
  return {};
}

Layout channels_layout(const TensorPtr& x) {
  const Dims dims = channel_dims(dims_of(x));
  return {dims, nhwc_strides(dims)};
}

/// The three inputs of running statistics and the two results go together.
template <class Attributes>
error_t check_running(const Attributes& attributes, const Site& site, const Dims& dims) {
  constexpr size_t kPorts[] = {Attributes::PREV_RUNNING_MEAN, Attributes::PREV_RUNNING_VAR,
                               Attributes::MOMENTUM};
  bool has_any = attributes.outputs[Attributes::NEXT_RUNNING_MEAN] ||
                 attributes.outputs[Attributes::NEXT_RUNNING_VAR];
  for (size_t port : kPorts) has_any = has_any || attributes.inputs[port];
  if (!has_any) return {};
  for (size_t port : kPorts)
    if (!attributes.inputs[port])
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(port), "no tensor",
                         "previous mean, variance and momentum, or none of them");
  for (size_t port : {Attributes::NEXT_RUNNING_MEAN, Attributes::NEXT_RUNNING_VAR})
    if (!attributes.outputs[port])
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.output(port),
                         "no tensor with previous running statistics", "a tensor");
  CHECK_WARPLOOM_ERROR(
      check_one_element(site, Attributes::MOMENTUM, attributes.inputs[Attributes::MOMENTUM]));
  return check_all_repeat(attributes, site,
                          {Attributes::PREV_RUNNING_MEAN, Attributes::PREV_RUNNING_VAR}, dims);
}

}  // namespace

error_t check_peers(const Site& site, const std::vector<int64_t>& peer_stats) {
  if (peer_stats.size() <= 1) return {};
  return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.field("peer_stats"),
                     show(peer_stats.size()) + " peers", "at most 1: one device");
}

error_t validate(const Batchnorm& norm, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_floating(site, norm.compute_data_type, norm.outputs, Batchnorm::MEAN));
  CHECK_WARPLOOM_ERROR(check_peers(site, norm.get_peer_stats()));
  const Dims& x = dims_of(norm.inputs[Batchnorm::X]);
  CHECK_WARPLOOM_ERROR(check_has_channels(site, Batchnorm::X, x));
  CHECK_WARPLOOM_ERROR(
      check_all_repeat(norm, site, {Batchnorm::SCALE, Batchnorm::BIAS}, channel_dims(x)));
  CHECK_WARPLOOM_ERROR(
      check_one_element(site, Batchnorm::EPSILON, norm.inputs[Batchnorm::EPSILON]));
  return check_running(norm, site, channel_dims(x));
}

error_t infer(Batchnorm& norm, const Site& site) {
  const TensorPtr& x = norm.inputs[Batchnorm::X];
  CHECK_WARPLOOM_ERROR(
      infer_layout(site, Batchnorm::Y, norm.outputs[Batchnorm::Y], layout_like(*x)));
  return infer_all(norm, site, Batchnorm::MEAN, channels_layout(x));
}

error_t validate(const Inference& norm, const Site& site) {
  CHECK_WARPLOOM_ERROR(
      check_floating(site, norm.compute_data_type, norm.outputs, norm.outputs.size()));
  const Dims& x = dims_of(norm.inputs[Inference::X]);
  CHECK_WARPLOOM_ERROR(check_has_channels(site, Inference::X, x));
  return check_all_repeat(
      norm, site, {Inference::MEAN, Inference::INV_VARIANCE, Inference::SCALE, Inference::BIAS},
      channel_dims(x));
}

error_t infer(Inference& norm, const Site& site) {
  return infer_layout(site, Inference::Y, norm.outputs[Inference::Y],
                      layout_like(*norm.inputs[Inference::X]));
}

error_t validate(const Weight& weight, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_floating(site, weight.compute_data_type, weight.outputs, 0));
  const Dims& x = dims_of(weight.inputs[Weight::X]);
  CHECK_WARPLOOM_ERROR(check_has_channels(site, Weight::X, x));
  CHECK_WARPLOOM_ERROR(check_equal_dims(site, Weight::DY, *weight.inputs[Weight::DY], Weight::X,
                                        *weight.inputs[Weight::X]));
  return check_all_repeat(weight, site, {Weight::SCALE, Weight::MEAN, Weight::INV_VARIANCE},
                          channel_dims(x));
}

error_t infer(Weight& weight, const Site& site) {
  return infer_all(weight, site, 0, channels_layout(weight.inputs[Weight::X]));
}

error_t validate(const Genstats& genstats, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_floating(site, genstats.compute_data_type, genstats.outputs, 0));
  return check_has_channels(site, Genstats::X, dims_of(genstats.inputs[Genstats::X]));
}

error_t infer(Genstats& genstats, const Site& site) {
  return infer_all(genstats, site, 0, channels_layout(genstats.inputs[Genstats::X]));
}

error_t validate(const Finalize& finalize, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_floating(site, finalize.compute_data_type, finalize.outputs, 0));
  const Dims& dims = dims_of(finalize.inputs[Finalize::SUM]);
  CHECK_WARPLOOM_ERROR(check_equal_dims(site, Finalize::SQ_SUM, *finalize.inputs[Finalize::SQ_SUM],
                                        Finalize::SUM, *finalize.inputs[Finalize::SUM]));
  CHECK_WARPLOOM_ERROR(check_all_repeat(finalize, site, {Finalize::SCALE, Finalize::BIAS}, dims));
  for (size_t port : {Finalize::EPSILON, Finalize::ACCUM_COUNT})
    CHECK_WARPLOOM_ERROR(check_one_element(site, port, finalize.inputs[port]));
  return check_running(finalize, site, dims);
}

error_t infer(Finalize& finalize, const Site& site) {
  const Dims& dims = dims_of(finalize.inputs[Finalize::SUM]);
  return infer_all(finalize, site, 0, {dims, nhwc_strides(dims)});
}

}  // namespace warploom::ops
