#pragma once
#include <warploom/frozen_graph.h>

#include "ops/strides.h"

namespace warploom::ops {

/// The strides of a result that is a view of an input of these strides: a transpose's or a slice's;
/// empty for other operations.
Dims view_strides(const graph::Operation& operation, const Dims& x_strides);

/// An operation's first input and result as they were described.
struct DescribedShapes {
  const ir::Shape& x;
  const ir::Shape& y;
};

/// Strides for a virtual result of other dims, or of an input of other strides: what was a view of
/// the input's memory stays one, the parts of split axes become one, and anything else is packed in
/// its old order. What holds for one shape holds so for every other.
Dims virtual_strides(const graph::Operation& operation, const DescribedShapes& described,
                     const Dims& x_strides, const Dims& y_dims);

}  // namespace warploom::ops
