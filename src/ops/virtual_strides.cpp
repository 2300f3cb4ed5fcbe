#include "ops/virtual_strides.h"

#include "ops/reshape_axes.h"

namespace warploom::ops {
namespace {

using graph::Reshape_attributes;
using graph::Slice_attributes;
using graph::Transpose_attributes;

struct ViewStrides {
  const Dims& x;

  Dims operator()(const Transpose_attributes& transpose) const {
    Dims strides;
    for (int64_t from : transpose.get_permutation())
      strides.push_back(x[static_cast<size_t>(from)]);
    return strides;
  }
  Dims operator()(const Slice_attributes& slice) const {
    Dims strides = x;
    // Unsigned: the stride of a dim of 1 may be anything.
    for (size_t i = 0; i < slice.get_strides().size(); ++i)
      strides[i] = static_cast<int64_t>(static_cast<uint64_t>(strides[i]) *
                                        static_cast<uint64_t>(slice.get_strides()[i]));
    return strides;
  }
  template <class Attributes>
  Dims operator()(const Attributes&) const {
    return {};
  }
};

}  // namespace

Dims view_strides(const graph::Operation& operation, const Dims& x_strides) {
  return std::visit(ViewStrides{x_strides}, operation);
}

Dims virtual_strides(const graph::Operation& operation, const DescribedShapes& described,
                     const Dims& x_strides, const Dims& y_dims) {
  const auto& [x, y] = described;
  if (const auto* reshape = std::get_if<Reshape_attributes>(&operation)) {
    const auto blocks = matching_axes(x.dims, y.dims);
    const auto split = blocks ? split_strides(*blocks, x.strides, y.dims) : std::nullopt;
    const bool may_be_split = split && (reshape->get_reshape_mode() == ReshapeMode_t::LOGICAL ||
                                        have_same_strides(y.dims, y.strides, *split));
    if (may_be_split) return *split_strides(*blocks, x_strides, y_dims);
    const bool is_same = x_strides == x.strides && y_dims == y.dims;
    if (is_same && reshape->get_reshape_mode() == ReshapeMode_t::VIEW_ONLY) return y.strides;
  } else {
    const Dims view = view_strides(operation, x.strides);
    if (!view.empty() && have_same_strides(y.dims, y.strides, view))
      return view_strides(operation, x_strides);
  }
  return packed_like(y_dims, y.dims, y.strides);
}

}  // namespace warploom::ops
