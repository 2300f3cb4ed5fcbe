#include "ops/pointwise_formula.h"

#include "base/element.h"

namespace warploom::ops {

PointwiseParameters::PointwiseParameters(const graph::Pointwise_attributes& attributes)
    : relu_lower_clip(attributes.get_relu_lower_clip()),
      relu_lower_clip_slope(attributes.get_relu_lower_clip_slope()),
      swish_beta(attributes.get_swish_beta()),
      elu_alpha(attributes.get_elu_alpha()),
      softplus_beta(attributes.get_softplus_beta()) {
  if (attributes.get_relu_upper_clip()) relu_upper_clip = *attributes.get_relu_upper_clip();
}

int64_t formula::integer_relu(int64_t x, const Parameters& p) {
  const auto value = static_cast<double>(x);
  if (value >= p.relu_lower_clip && value <= p.relu_upper_clip) return x;
  return base::to_int64(relu(value, p));
}

template <class T>
T apply(PointwiseMode_t mode, [[maybe_unused]] const PointwiseParameters& p, T x,
        [[maybe_unused]] T y, [[maybe_unused]] T z) {
  using namespace formula;
  switch (mode) {
#define WARPLOOM_POINTWISE(mode, arity, expression, ...) \
  case PointwiseMode_t::mode:                            \
    return expression;
#include "ops/pointwise.def"
#undef WARPLOOM_POINTWISE
    case PointwiseMode_t::NOT_SET:
      break;
  }
  return T{};
}

template float apply(PointwiseMode_t, const PointwiseParameters&, float, float, float);
template double apply(PointwiseMode_t, const PointwiseParameters&, double, double, double);

template <>
int64_t apply(PointwiseMode_t mode, const PointwiseParameters& p, int64_t x, int64_t y, int64_t z) {
  using namespace formula;
#define THROUGH_DOUBLE                                                                  \
  base::to_int64(apply<double>(mode, p, static_cast<double>(x), static_cast<double>(y), \
                               static_cast<double>(z)))
  switch (mode) {
#define WARPLOOM_POINTWISE(mode, arity, expression, integer_expression, ...) \
  case PointwiseMode_t::mode:                                                \
    return integer_expression;
#include "ops/pointwise.def"
#undef WARPLOOM_POINTWISE
    case PointwiseMode_t::NOT_SET:
      break;
  }
#undef THROUGH_DOUBLE
  return 0;
}

}  // namespace warploom::ops
