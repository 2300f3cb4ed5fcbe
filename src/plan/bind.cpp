#include "plan/bind.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/element.h"
#include "fusion/partition.h"

namespace warploom::plan {
namespace {

using BoundKernelPtr = std::unique_ptr<const engine::BoundKernel>;

Result<BoundKernelPtr> bind_kernel(const engine::Kernel& kernel, ir::ShapeTable shapes) {
  auto bound = kernel.bind(shapes);
  CHECK_WARPLOOM_ERROR(bound.error());
  // Engines may be a user's.
  const auto broken = [](const char* what) {
    return error_t{error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
                   std::string("the engine returned ") + what};
  };
  if (!bound.value()) return broken("no bound kernel and no error");
  // Far from overflow when the parts of a plan are added up.
  constexpr int64_t kMostBytes = int64_t{1} << 56;
  const int64_t bytes = bound.value()->workspace_bytes();
  if (bytes < 0 || bytes > kMostBytes) return broken("a workspace size below 0 or above 2^56");
  return bound;
}

std::vector<int64_t> kernel_bytes(const std::vector<Step>& steps) {
  std::vector<int64_t> bytes;
  bytes.reserve(steps.size());
  for (const Step& step : steps) bytes.push_back(step.kernel->workspace_bytes());
  return bytes;
}

/// Turns tensors into slots.
class SlotMaker {
 public:
  SlotMaker(const ResolvedPartition& partition, const BindTarget& target,
            const WorkspaceContents& contents, const WorkspaceLayout& layout)
      : partition_(partition), target_(target), contents_(contents), layout_(layout) {}

  Slot make(ir::TensorId id) const {
    const ir::TensorId source = memory_of(partition_, id);
    const ir::Tensor& tensor = target_.graph->tensor(source);
    Slot slot;
    if (source != id)
      slot.view_offset = fusion::view_offset(*target_.graph, {id, source}, target_.shapes) *
                         detail::get_data_type_size(tensor.data_type);
    const int32_t pack_index = target_.pack.index_of(source);
    const std::optional<int64_t> kept = workspace_offset(source);
    if (tensor.value) {
      slot.source = Slot::Source::kScalar;
      base::store_scalar(slot.scalar.data(), tensor.data_type, *tensor.value);
    } else if (pack_index >= 0) {
      slot.index = static_cast<size_t>(pack_index);
      if (kept) slot.source = Slot::Source::kPackOrWorkspace;
    } else {
      slot.source = Slot::Source::kWorkspace;
    }
    slot.offset = kept.value_or(0);
    return slot;
  }

 private:
  std::optional<int64_t> workspace_offset(ir::TensorId tensor) const {
    const auto place = std::ranges::find(contents_.tensors, tensor);
    if (place == contents_.tensors.end()) return std::nullopt;
    return layout_
        .offsets[contents_.steps() + static_cast<size_t>(place - contents_.tensors.begin())];
  }

  const ResolvedPartition& partition_;
  const BindTarget& target_;
  const WorkspaceContents& contents_;
  const WorkspaceLayout& layout_;
};

}  // namespace

Result<Plan> bind_plan(const Selection& selection, std::span<const KernelPtr> kernels,
                       const BindTarget& target) {
  const ResolvedPartition& partition = *selection.partition;
  std::vector<Step> steps(kernels.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    auto bound = bind_kernel(*kernels[i], target.shapes);
    if (bound.is_bad()) return step_error(selection, i, bound.error());
    steps[i].kernel = std::move(bound).value();
  }

  const WorkspaceContents contents = workspace_contents(partition, target, kernel_bytes(steps));
  const WorkspaceLayout layout = lay_out(contents.requests);
  const SlotMaker slots(partition, target, contents, layout);
  for (size_t i = 0; i < steps.size(); ++i) {
    const fusion::FusionGroup& group = partition.groups[i].survey->group;
    const size_t count = group.inputs.size() + group.outputs.size();
    if (count > Plan::kMostSlots)
      return step_error(
          selection, i,
          {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
           fmt::format("{} tensors in memory; at most {} are accepted", count, Plan::kMostSlots)});
    steps[i].slots.reserve(count);
    for (ir::TensorId input : group.inputs) steps[i].slots.push_back(slots.make(input));
    for (ir::TensorId output : group.outputs) steps[i].slots.push_back(slots.make(output));
    steps[i].workspace_offset = layout.offsets[i];
    if (is_step_optional(partition, i, target.pack))
      steps[i].only_result = static_cast<size_t>(target.pack.index_of(group.outputs[0]));
  }
  return Plan(std::move(steps), layout.bytes);
}

error_t step_error(const Selection& selection, size_t step, const error_t& error) {
  return {error.code,
          fmt::format("Step {} ({}): {}", step, selection.choices[step]->name, error.err_msg)};
}

std::vector<WorkspaceRange> workspace_ranges(const Selection& selection, const Plan& plan,
                                             const BindTarget& target) {
  const std::vector<Step>& steps = plan.steps();
  const WorkspaceContents contents =
      workspace_contents(*selection.partition, target, kernel_bytes(steps));
  const WorkspaceLayout layout = lay_out(contents.requests);
  std::vector<WorkspaceRange> ranges;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const engine::WorkspacePart& part : steps[i].kernel->workspace_parts())
      ranges.push_back({fmt::format("step {} {}: {}", i, selection.choices[i]->name, part.purpose),
                        layout.offsets[i] + part.offset, part.bytes, i, i});
  for (size_t i = 0; i < contents.tensors.size(); ++i) {
    const WorkspaceRequest& request = contents.requests[steps.size() + i];
    if (request.bytes > 0)
      ranges.push_back(
          {fmt::format("tensor \"{}\"", target.graph->tensor(contents.tensors[i]).name),
           layout.offsets[steps.size() + i], request.bytes, request.first_step, request.last_step});
  }
  if (layout.bytes > 0)
    ranges.push_back({"alignment of the whole", layout.bytes, plan.workspace_bytes() - layout.bytes,
                      0, steps.size() - 1});
  return ranges;
}

}  // namespace warploom::plan
