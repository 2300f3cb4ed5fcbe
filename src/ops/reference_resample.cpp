#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/reference_families.h"

namespace warploom::ops {
namespace {

using Forward = graph::Resample_attributes;
using Backward = graph::Resample_backward_attributes;

// Where a position of a window lies in X.
struct Place {
  Index index;
  bool is_inside;
};

// The windows over X, one for every element of Y.
class Windows {
 public:
  Windows(const graph::ResampleFields& fields, const ir::Shape& x) : fields_(fields), x_(x) {}

  /// The place of a position, counted row-major; at the edge where it is outside.
  Place place(const Index& y, int64_t position) const {
    Place result{.index = {y[0], y[1]}, .is_inside = true};
    for (size_t axis = fields_.get_window().size(); axis-- > 0;) {
      const int64_t extent = x_.dims[axis + 2], window = fields_.get_window()[axis];
      const int64_t at = y[axis + 2] * fields_.get_stride()[axis] + position % window -
                         fields_.get_pre_padding()[axis];
      position /= window;
      result.is_inside &= at >= 0 && at < extent;
      result.index[axis + 2] = std::clamp<int64_t>(at, 0, extent - 1);
    }
    return result;
  }
  int64_t size() const {
    int64_t product = 1;
    for (int64_t extent : fields_.get_window()) product *= extent;
    return product;
  }
  /// How many elements of the window a mean is over.
  int64_t count(const Index& y) const {
    if (fields_.get_resample_mode() != ResampleMode_t::AVGPOOL_EXCLUDE_PADDING) return size();
    int64_t inside = 0;
    for (int64_t position = 0; position < size(); ++position)
      inside += place(y, position).is_inside;
    return inside;
  }
  /// Whether what is outside counts, as the nearest element or as a constant.
  bool pads() const {
    return fields_.get_resample_mode() != ResampleMode_t::AVGPOOL_EXCLUDE_PADDING;
  }
  bool pads_with_edge() const {
    return pads() && fields_.get_padding_mode() == PaddingMode_t::EDGE_VAL_PAD;
  }
  template <class Number>
  Number constant() const {
    using Limits = std::numeric_limits<Number>;
    if (fields_.get_padding_mode() != PaddingMode_t::NEG_INF_PAD) return 0;
    return Limits::has_infinity ? -Limits::infinity() : Limits::min();
  }

 private:
  const graph::ResampleFields& fields_;
  const ir::Shape& x_;
};

template <class Number>
struct Maximum {
  Number value{};
  int64_t position = 0;
};

// NaN is greater than any number; of equal ones the first counts, and of padding with -infinity
// only where there is nothing else.
template <class Number>
Maximum<Number> maximum(const Windows& windows, const ReferenceTensor& x, const Index& y,
                        bool skips_padding) {
  Maximum<Number> found{windows.constant<Number>()};
  bool is_first = true;
  for (int64_t position = 0; position < windows.size(); ++position) {
    const Place place = windows.place(y, position);
    const bool reads = place.is_inside || windows.pads_with_edge();
    if (!reads && skips_padding) continue;
    const Number value =
        reads ? load<Number>(x, offset_of(*x.shape, place.index)) : windows.constant<Number>();
    const bool is_greater = value > found.value || (value != value && found.value == found.value);
    if (is_first || is_greater) found = {value, position};
    is_first = false;
  }
  return found;
}

template <class Number>
Number mean(const Windows& windows, const ReferenceTensor& x, const Index& y) {
  Number sum{};
  for (int64_t position = 0; position < windows.size(); ++position) {
    const Place place = windows.place(y, position);
    if (place.is_inside || windows.pads_with_edge())
      sum = multiply_add(sum, Number{1}, load<Number>(x, offset_of(*x.shape, place.index)));
    else if (windows.pads())
      sum = multiply_add(sum, Number{1}, windows.constant<Number>());
  }
  const double quotient = static_cast<double>(sum) / static_cast<double>(windows.count(y));
  if constexpr (std::is_same_v<Number, int64_t>)
    return base::to_int64(quotient);
  else
    return quotient;
}

template <class Number>
void pool(const Forward& resample, const ReferenceTensors& tensors) {
  const ReferenceTensor& x = tensors.inputs[Forward::X];
  const ReferenceTensor& y = tensors.outputs[Forward::Y];
  const ReferenceTensor& index = tensors.outputs[Forward::Index];
  const Windows windows(resample, *x.shape);
  const bool skips_padding = resample.get_padding_mode() == PaddingMode_t::NEG_INF_PAD;
  for_each_index(y.shape->dims, [&](const Index& at) {
    if (resample.get_resample_mode() != ResampleMode_t::MAXPOOL)
      return store(y, offset_of(*y.shape, at), mean<Number>(windows, x, at));
    const Maximum<Number> found = maximum<Number>(windows, x, at, skips_padding);
    store(y, offset_of(*y.shape, at), found.value);
    if (index) store(index, offset_of(*index.shape, at), found.position);
  });
}

}  // namespace

template <class Number>
void reference(const Forward& resample, const ReferenceTensors& tensors, Number*) {
  pool<Number>(resample, tensors);
}

template void reference(const Forward&, const ReferenceTensors&, double*);
template void reference(const Forward&, const ReferenceTensors&, int64_t*);

// DX, packed.
ElementCount scratch_elements(const Backward&, const ReferenceTensors& tensors) {
  ElementCount elements = 1;
  for (int64_t dim : tensors.outputs[Backward::DX].shape->dims) elements *= dim;
  return elements;
}

void reference(const Backward& resample, const ReferenceTensors& tensors, double* scratch) {
  const ReferenceTensor& dy = tensors.inputs[Backward::DY];
  const ReferenceTensor& index = tensors.inputs[Backward::Index];
  const ReferenceTensor& dx = tensors.outputs[Backward::DX];
  const Windows windows(resample, *dx.shape);
  std::fill_n(scratch, dx.shape->volume(), 0.0);
  const auto give = [&](const Place& place, double value) {
    if (!place.is_inside && !windows.pads_with_edge()) return;
    int64_t packed = 0;
    for (size_t axis = 0; axis < dx.shape->dims.size(); ++axis)
      packed = packed * dx.shape->dims[axis] + place.index[axis];
    scratch[packed] += value;
  };
  for_each_index(dy.shape->dims, [&](const Index& at) {
    const double value = load<double>(dy, offset_of(*dy.shape, at));
    if (index) {
      const auto position = load<int64_t>(index, offset_of(*index.shape, at));
      // What is no position of the window names nothing.
      if (position >= 0 && position < windows.size()) give(windows.place(at, position), value);
      return;
    }
    const double share = value / static_cast<double>(windows.count(at));
    for (int64_t position = 0; position < windows.size(); ++position)
      give(windows.place(at, position), share);
  });
  pack(scratch, dx);
}

}  // namespace warploom::ops
