#pragma once

#include "engines/cpu/row_tensor.h"

namespace warploom::cpu {

/// Rows of a normalization are held in FLOAT unless a tensor has more digits than that: then
/// DOUBLE.
DataType_t norm_compute_type(const fusion::FusionGroup& group);

/// The anchor of a group as rows: which tensors there are, and how each lies.
struct NormProblem {
  enum class Kind {
    kSoftmax,
    kMoments,  ///< normalized with the row's own mean and variance
    kGiven,    ///< with those of inputs
  };

  /// `group` is one that check_norm accepts.
  NormProblem(const fusion::FusionGroup& group, ir::ShapeTable shapes);

  Kind kind = Kind::kMoments;
  bool is_centered = true;
  DataType_t compute = DataType_t::FLOAT;  ///< of rows in buffers: FLOAT or DOUBLE
  RowAxes axes;
  int64_t rows = 0, length = 0;

  ir::TensorId x_id = ir::kNoTensor;
  RowTensor x, y, scale, bias, epsilon, sink, given_mean, given_inv_variance;
  RowTensor previous_mean, previous_variance, momentum;
  RowTensor mean, inv_variance, next_mean, next_variance;
  RowTensor maximum, sum, stats;
};

}  // namespace warploom::cpu
