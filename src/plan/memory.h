#pragma once

#include <span>
#include <vector>

#include "plan/bind_target.h"
#include "plan/survey.h"
#include "plan/workspace.h"

namespace warploom::plan {

/// What a partition keeps in the workspace: the kernels' own parts, and the tensors that one group
/// writes and others read.
struct WorkspaceContents {
  /// By step, then by tensor.
  std::vector<WorkspaceRequest> requests;
  std::vector<ir::TensorId> tensors;
  size_t steps() const { return requests.size() - tensors.size(); }
};

/// `kernel_bytes`: by step. A virtual tensor lives from the step that writes it to the last one
/// that reads it or a view of it. So does a slice's result that the variant pack may lack, unless
/// its step is optional.
WorkspaceContents workspace_contents(const ResolvedPartition& partition, const BindTarget& target,
                                     std::span<const int64_t> kernel_bytes);

/// Whether step `index` runs for nothing but a slice's result that no other step reads.
bool is_step_optional(const ResolvedPartition& partition, size_t index, const PackTable& pack);

/// The tensor whose memory holds `tensor`: itself, or what it is a view of.
ir::TensorId memory_of(const ResolvedPartition& partition, ir::TensorId tensor);

/// From a tensor's first element to the end of its last, over its strides.
int64_t spanned_bytes(const ir::Shape& shape, DataType_t type);

}  // namespace warploom::plan
