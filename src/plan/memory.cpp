#include "plan/memory.h"

#include <algorithm>

#include "base/data_type.h"

namespace warploom::plan {
namespace {

struct Lifetime {
  ir::TensorId tensor;
  size_t first_step;
  size_t last_step;
};

const fusion::FusionGroup& group_of(const ResolvedPartition& partition, size_t step) {
  return partition.groups[step].survey->group;
}

bool is_optional(const PackTable& pack, ir::TensorId tensor) {
  const int32_t index = pack.index_of(tensor);
  return index >= 0 && !pack.entries()[static_cast<size_t>(index)].is_required;
}

bool is_read_after(const ResolvedPartition& partition, size_t step, ir::TensorId tensor) {
  for (size_t later = step + 1; later < partition.groups.size(); ++later)
    for (ir::TensorId input : group_of(partition, later).inputs)
      if (memory_of(partition, input) == tensor) return true;
  return false;
}

}  // namespace

ir::TensorId memory_of(const ResolvedPartition& partition, ir::TensorId tensor) {
  const auto alias = std::ranges::find(partition.aliases, tensor, &fusion::Alias::tensor);
  return alias == partition.aliases.end() ? tensor : alias->source;
}

int64_t spanned_bytes(const ir::Shape& shape, DataType_t type) {
  int64_t last = 0;
  for (size_t axis = 0; axis < shape.dims.size(); ++axis) {
    if (shape.dims[axis] == 0) return 0;
    last += (shape.dims[axis] - 1) * shape.strides[axis];
  }
  return base::bytes_of(type, last + 1);
}

bool is_step_optional(const ResolvedPartition& partition, size_t index, const PackTable& pack) {
  const std::vector<ir::TensorId>& outputs = group_of(partition, index).outputs;
  return outputs.size() == 1 && is_optional(pack, outputs[0]) &&
         !is_read_after(partition, index, outputs[0]);
}

WorkspaceContents workspace_contents(const ResolvedPartition& partition, const BindTarget& target,
                                     std::span<const int64_t> kernel_bytes) {
  std::vector<Lifetime> lifetimes;
  for (size_t step = 0; step < partition.groups.size(); ++step) {
    const fusion::FusionGroup& group = group_of(partition, step);
    for (ir::TensorId output : group.outputs) {
      const bool is_kept =
          group.tensor(output).is_virtual ||
          (is_optional(target.pack, output) && !is_step_optional(partition, step, target.pack));
      if (is_kept) lifetimes.push_back({output, step, step});
    }
    for (ir::TensorId input : group.inputs) {
      const ir::TensorId read = memory_of(partition, input);
      const auto kept = std::ranges::find(lifetimes, read, &Lifetime::tensor);
      if (kept != lifetimes.end()) kept->last_step = step;
    }
  }
  std::ranges::sort(lifetimes, {}, &Lifetime::tensor);

  WorkspaceContents contents;
  contents.requests.reserve(kernel_bytes.size() + lifetimes.size());
  contents.tensors.reserve(lifetimes.size());
  for (size_t step = 0; step < kernel_bytes.size(); ++step)
    contents.requests.push_back({kernel_bytes[step], step, step});
  for (const Lifetime& lifetime : lifetimes) {
    const ir::TensorId tensor = lifetime.tensor;
    contents.requests.push_back({spanned_bytes(target.shapes[static_cast<size_t>(tensor)],
                                               target.graph->tensor(tensor).data_type),
                                 lifetime.first_step, lifetime.last_step});
    contents.tensors.push_back(tensor);
  }
  return contents;
}

}  // namespace warploom::plan
