#pragma once
/// Compares what a plan wrote with what the reference engine wrote.
#include <string>

#include "tools/tensor_memory.h"

namespace warploom::tools {

struct Comparison {
  /// Floating point: the largest |got - wanted| / (|wanted| + rms(wanted)). BOOLEAN: the share of
  /// elements that differ. Integers: the largest difference. Infinite where one is NaN or infinite
  /// and the other is not.
  double error = 0;
  double tolerance = 0;
  std::string worst;  ///< where the largest error is, and both values; empty when there is none
  bool passed() const { return error <= tolerance; }
};

/// The error to be expected of a right result: that of the coarsest data type that the output's
/// value passes through on its way.
double tolerance_of(const ir::Tensor& output, const ir::FrozenGraph& graph);

/// `wanted`: as to_array() gave it. `tolerance` as above.
Comparison compare(const TensorMemory& got, const NpyArray& wanted, double tolerance);

}  // namespace warploom::tools
