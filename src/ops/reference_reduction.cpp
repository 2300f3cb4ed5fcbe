#include <cmath>
#include <limits>

#include "ops/pointwise_formula.h"
#include "ops/reference_families.h"

namespace warploom::ops {
namespace {

using Reduction = graph::Reduction_attributes;

template <class Number>
constexpr bool kIsInteger = std::is_same_v<Number, int64_t>;

template <class Number>
Number first_value(ReductionMode_t mode) {
  using Limits = std::numeric_limits<Number>;
  const auto most = kIsInteger<Number> ? Limits::max() : Limits::infinity();
  const auto least = kIsInteger<Number> ? Limits::min() : -Limits::infinity();
  switch (mode) {
    case ReductionMode_t::MUL:
    case ReductionMode_t::MUL_NO_ZEROS:
      return 1;
    case ReductionMode_t::MIN:
      return most;
    case ReductionMode_t::MAX:
      return least;
    default:
      return 0;
  }
}

template <class Number>
Number combine(ReductionMode_t mode, Number so_far, Number x) {
  const PointwiseParameters none;
  auto pointwise = [&](PointwiseMode_t combination, Number a, Number b) {
    return apply<Number>(combination, none, a, b, Number{});
  };
  auto magnitude = [&] { return pointwise(PointwiseMode_t::ABS, x, x); };
  switch (mode) {
    case ReductionMode_t::ADD:
    case ReductionMode_t::AVG:
      return pointwise(PointwiseMode_t::ADD, so_far, x);
    case ReductionMode_t::NORM1:
      return pointwise(PointwiseMode_t::ADD, so_far, magnitude());
    case ReductionMode_t::NORM2:
      return pointwise(PointwiseMode_t::ADD_SQUARE, so_far, x);
    case ReductionMode_t::MUL:
      return pointwise(PointwiseMode_t::MUL, so_far, x);
    case ReductionMode_t::MUL_NO_ZEROS:
      return x == 0 ? so_far : pointwise(PointwiseMode_t::MUL, so_far, x);
    case ReductionMode_t::MIN:
      return pointwise(PointwiseMode_t::MIN, so_far, x);
    case ReductionMode_t::MAX:
      return pointwise(PointwiseMode_t::MAX, so_far, x);
    case ReductionMode_t::AMAX:
      return pointwise(PointwiseMode_t::MAX, so_far, magnitude());
    case ReductionMode_t::NOT_SET:
      break;
  }
  return so_far;
}

// Integers go through double here, as every other function of them does.
template <class Number>
Number finish(ReductionMode_t mode, Number total, int64_t count) {
  auto as_number = [](double value) {
    if constexpr (kIsInteger<Number>)
      return base::to_int64(value);
    else
      return value;
  };
  const auto value = static_cast<double>(total);
  if (mode == ReductionMode_t::AVG) return as_number(value / static_cast<double>(count));
  if (mode == ReductionMode_t::NORM2) return as_number(std::sqrt(value));
  return total;
}

}  // namespace

template <class Number>
void reference(const Reduction& reduction, const ReferenceTensors& tensors, Number*) {
  const ReductionMode_t mode = reduction.get_mode();
  const ReferenceTensor& x = tensors.inputs[Reduction::X];
  const ReferenceTensor& y = tensors.outputs[Reduction::Y];
  // Over every axis where Y's dim is 1; where X's is 1 too, that changes nothing.
  int64_t count = 1;
  for (size_t i = 0; i < x.shape->dims.size(); ++i)
    if (y.shape->dims[i] == 1) count *= x.shape->dims[i];

  for_each_index(y.shape->dims, [&](const Index& kept) {
    Number total = first_value<Number>(mode);
    for_each_reduced_index(x.shape->dims, y.shape->dims, kept, [&](const Index& index) {
      total = combine(mode, total, load<Number>(x, offset_of(*x.shape, index)));
    });
    store(y, offset_of(*y.shape, kept), finish(mode, total, count));
  });
}

template void reference(const Reduction&, const ReferenceTensors&, double*);
template void reference(const Reduction&, const ReferenceTensors&, int64_t*);

}  // namespace warploom::ops
