#pragma once
#include <span>

#include <warploom/frozen_graph.h>

namespace warploom::ops {

/// The shapes that an operation was described with, by port; null where a port is not used.
struct DescribedPorts {
  std::span<const ir::Shape*const> inputs, outputs;
};

/// Infers one operation again, as it was described, for inputs of other shapes. Stored results have
/// the shapes that they shall have, and are checked; virtual ones have none, and get theirs. What
/// the description says of extents in its own words follows:
///   reduction  a dim that was reduced to 1 stays 1, another is the input's
///   slice      a limit at the end of its axis stays there
///   reshape    an axis that was split changes the first of its parts, axes that were merged change
///              the axis that they were merged into
///   strides    of virtual results: see ops/virtual_strides.h
/// SHAPE_DEDUCTION_FAILED names the tensor and dim where that does not say what is meant.
error_t infer_again(graph::Operation& operation, const DescribedPorts& described);

}  // namespace warploom::ops
