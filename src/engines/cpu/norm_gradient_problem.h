#pragma once

#include "engines/cpu/row_tensor.h"

namespace warploom::cpu {

/// What is summed over the elements of each statistic, and what is made of the sums: the gradients
/// of normalizations, and the sums that batch normalization is fused from.
struct NormGradientProblem {
  /// `group` is one that check_norm_gradient accepts.
  NormGradientProblem(const fusion::FusionGroup& group, ir::ShapeTable shapes);

  /// Of a node that is such a problem.
  static bool fits(const graph::Operation& operation);

  bool is_centered = true;
  /// SCALE is along the rows (layer normalization), else it is one for each channel.
  bool has_scale_rows = false;
  DataType_t compute = DataType_t::FLOAT;  ///< of rows in buffers: FLOAT or DOUBLE
  RowAxes axes;
  int64_t rows = 0, length = 0;
  /// Parameters are those of the entry row / parameter_step % parameters.
  int64_t parameters = 1, parameter_step = 1;

  ir::TensorId x_id = ir::kNoTensor, dy_id = ir::kNoTensor, dx_id = ir::kNoTensor;
  RowTensor dy, x, scale, epsilon, mean, inv_variance;
  RowTensor dx, dscale, dbias;
  RowTensor of_dy, of_x, offset;  ///< what dx is made of, for each channel
  RowTensor sum, squares;         ///< of x alone
};

}  // namespace warploom::cpu
