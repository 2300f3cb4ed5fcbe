#pragma once
#include <warploom/ops/operation.h>

namespace warploom::ops {

/// A graph's data types for whatever says none of its own.
struct GraphTypes {
  DataType_t io = DataType_t::NOT_SET;            ///< tensors with memory of the user's
  DataType_t intermediate = DataType_t::NOT_SET;  ///< virtual tensors
  DataType_t compute = DataType_t::NOT_SET;       ///< operations
};

/// Checks one operation whose inputs are all described (graph inputs, or outputs of operations that
/// were checked before), and fills what was left out: data types of its tensors and of the
/// operation, dims of stored scalars (all ones, of the other inputs' rank), dims and strides of its
/// outputs. What the user set is kept, or refused where it contradicts. May be called again.
error_t infer_and_validate(graph::Operation& operation, const GraphTypes& types);

/// The checks of an input tensor by itself, for tensors that no operation reads: what
/// Tensor_attributes::validate says, at most 8 dims, nothing negative, and a size in bytes that
/// int64_t can hold. The data type may be unset.
error_t check_tensor(const graph::Tensor_attributes& tensor);

}  // namespace warploom::ops
