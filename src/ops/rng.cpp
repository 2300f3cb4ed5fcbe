#include <algorithm>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using Rng = graph::Rng_attributes;

error_t check_number(const Site& site, const Rng& rng, size_t port) {
  const graph::TensorPtr& tensor = rng.inputs[port];
  if (!tensor) return {};
  const DataType_t type = tensor->get_data_type();
  if (type != DataType_t::INT32 && type != DataType_t::INT64)
    return site.refuse(error_code_t::INVALID_VALUE, site.input(port) + ", data type", show(type),
                       "INT32 or INT64");
  if (tensor->get_volume() != 1)
    return site.refuse(error_code_t::INVALID_VALUE, site.input(port) + ", dims",
                       show(tensor->get_dim()), "one element");
  return {};
}

}  // namespace

error_t validate(const Rng& rng, const Site& site) {
  if (rng.get_distribution() != RngDistribution_t::BERNOULLI)
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.field("distribution"),
                       show(rng.get_distribution()), "BERNOULLI");
  if (!rng.get_bernoulli_probability())
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.field("bernoulli_probability"),
                       "nothing set", "a probability of 0 to 1");
  const double probability = *rng.get_bernoulli_probability();
  if (!(probability >= 0 && probability <= 1))
    return site.refuse(error_code_t::INVALID_VALUE, site.field("bernoulli_probability"),
                       show(probability), "a probability of 0 to 1");
  if (!rng.inputs[Rng::Seed] && !rng.get_seed())
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(Rng::Seed), "no tensor",
                       "a tensor, or a value for field seed");
  CHECK_WARPLOOM_ERROR(check_number(site, rng, Rng::Seed));
  CHECK_WARPLOOM_ERROR(check_number(site, rng, Rng::Offset));
  return check_target(site, rng.get_dim(), rng.get_stride(), *rng.outputs[Rng::Y]);
}

error_t infer(Rng& rng, const Site& site) {
  graph::Tensor_attributes& y = *rng.outputs[Rng::Y];
  if (y.get_stride().empty()) y.set_stride(rng.get_stride());
  return infer_nhwc(site, Rng::Y, y, rng.get_dim().empty() ? Dims(y.get_dim()) : rng.get_dim());
}

}  // namespace warploom::ops
