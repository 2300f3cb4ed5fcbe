#include "plan/build.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/element.h"
#include "fusion/partition.h"
#include "plan/memory.h"

namespace warploom::plan {
namespace {

using KernelResult = Result<std::shared_ptr<const engine::BoundKernel>>;

KernelResult build_kernel(const fusion::FusionGroup& group, const Offer& offer,
                          const BuildContext& context) {
  auto kernel = offer.engine->build(group, offer.candidate, context.device);
  CHECK_WARPLOOM_ERROR(kernel.error());
  // Engines may be a user's.
  const auto broken = [](const char* what) {
    return error_t{error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
                   std::string("the engine returned ") + what};
  };
  if (!kernel.value()) return broken("no kernel and no error");
  auto bound = kernel.value()->bind(context.shapes);
  CHECK_WARPLOOM_ERROR(bound.error());
  if (!bound.value()) return broken("no bound kernel and no error");
  // Far from overflow when the parts of a plan are added up.
  constexpr int64_t kMostBytes = int64_t{1} << 56;
  const int64_t bytes = bound.value()->workspace_bytes();
  if (bytes < 0 || bytes > kMostBytes) return broken("a workspace size below 0 or above 2^56");
  return std::shared_ptr<const engine::BoundKernel>(std::move(bound).value());
}

/// Built once for every plan that has this offer.
KernelResult kernel_of(const fusion::FusionGroup& group, Offer& offer,
                       const BuildContext& context) {
  const std::lock_guard lock(offer.mutex);
  if (!offer.kernel) offer.kernel = build_kernel(group, offer, context);
  return *offer.kernel;
}

/// Turns tensors into slots.
class SlotMaker {
 public:
  SlotMaker(const Selection& selection, const BuildContext& context,
            const WorkspaceContents& contents, const WorkspaceLayout& layout)
      : partition_(*selection.partition),
        context_(context),
        graph_(*partition_.groups.front().survey->group.graph) {
    const size_t steps = selection.choices.size();
    for (size_t i = 0; i < contents.tensors.size(); ++i)
      offsets_[contents.tensors[i]] = layout.offsets[steps + i];
  }

  Slot make(ir::TensorId id) {
    const ir::TensorId source = memory_of(partition_, id);
    Slot slot;
    if (source != id)
      slot.view_offset = fusion::view_offset(graph_, {id, source}, context_.shapes) *
                         detail::get_data_type_size(graph_.tensor(source).data_type);
    const int32_t pack_index = context_.pack.index_of(source);
    const auto kept = offsets_.find(source);
    if (graph_.tensor(source).value) {
      slot.source = Slot::Source::kScalar;
      slot.scalar = scalar(source);
    } else if (pack_index >= 0) {
      slot.index = static_cast<size_t>(pack_index);
      if (kept != offsets_.end()) slot.source = Slot::Source::kPackOrWorkspace;
    } else {
      slot.source = Slot::Source::kWorkspace;
    }
    if (kept != offsets_.end()) slot.offset = kept->second;
    return slot;
  }

  std::vector<std::vector<std::byte>> take_scalars() && { return std::move(scalars_); }

 private:
  /// Where the stored value is, as an element of the tensor's data type.
  const void* scalar(ir::TensorId id) {
    const ir::Tensor& tensor = graph_.tensor(id);
    auto& bytes = scalars_.emplace_back(detail::get_data_type_size(tensor.data_type));
    base::store_scalar(bytes.data(), tensor.data_type, *tensor.value);
    return bytes.data();
  }

  const ResolvedPartition& partition_;
  const BuildContext& context_;
  const ir::FrozenGraph& graph_;
  std::map<ir::TensorId, int64_t> offsets_;
  std::vector<std::vector<std::byte>> scalars_;
};

std::vector<WorkspaceRange> named_ranges(const std::vector<Step>& steps,
                                         const WorkspaceContents& contents,
                                         const WorkspaceLayout& layout,
                                         const ir::FrozenGraph& graph) {
  std::vector<WorkspaceRange> ranges;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const engine::WorkspacePart& part : steps[i].kernel->workspace_parts())
      ranges.push_back({fmt::format("step {} {}: {}", i, steps[i].name, part.purpose),
                        layout.offsets[i] + part.offset, part.bytes, i, i});
  for (size_t i = 0; i < contents.tensors.size(); ++i) {
    const WorkspaceRequest& request = contents.requests[steps.size() + i];
    if (request.bytes > 0)
      ranges.push_back({fmt::format("tensor \"{}\"", graph.tensor(contents.tensors[i]).name),
                        layout.offsets[steps.size() + i], request.bytes, request.first_step,
                        request.last_step});
  }
  return ranges;
}

}  // namespace

Result<std::shared_ptr<const Plan>> build_plan(const Selection& selection,
                                               const BuildContext& context) {
  const ResolvedPartition& partition = *selection.partition;
  std::vector<Step> steps;
  std::vector<int64_t> kernel_bytes;
  for (size_t i = 0; i < selection.choices.size(); ++i) {
    Offer& offer = *selection.choices[i];
    auto kernel = kernel_of(partition.groups[i].survey->group, offer, context);
    if (kernel.is_bad())
      return error_t{kernel.error().code,
                     fmt::format("Step {} ({}): {}", i, offer.name, kernel.error().err_msg)};
    kernel_bytes.push_back(kernel.value()->workspace_bytes());
    Step& step = steps.emplace_back();
    step.name = offer.name;
    step.kernel = std::move(kernel).value();
  }

  const WorkspaceContents contents = workspace_contents(partition, context.pack, kernel_bytes);
  const WorkspaceLayout layout = lay_out(contents.requests);
  SlotMaker slots(selection, context, contents, layout);
  for (size_t i = 0; i < steps.size(); ++i) {
    const fusion::FusionGroup& group = partition.groups[i].survey->group;
    for (ir::TensorId input : group.inputs) steps[i].slots.push_back(slots.make(input));
    for (ir::TensorId output : group.outputs) steps[i].slots.push_back(slots.make(output));
    if (steps[i].slots.size() > Plan::kMostSlots)
      return error_t{error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
                     fmt::format("Step {} ({}) has {} tensors in memory; at most {} are accepted",
                                 i, steps[i].name, steps[i].slots.size(), Plan::kMostSlots)};
    steps[i].workspace_offset = layout.offsets[i];
    if (is_step_optional(partition, i, context.pack))
      steps[i].only_result = static_cast<size_t>(context.pack.index_of(group.outputs[0]));
  }
  auto ranges =
      named_ranges(steps, contents, layout, *partition.groups.front().survey->group.graph);
  return std::make_shared<const Plan>(std::move(steps), layout.bytes, std::move(ranges),
                                      std::move(slots).take_scalars());
}

int64_t expected_workspace_bytes(const Selection& selection, const PackTable& pack) {
  std::vector<int64_t> kernel_bytes;
  for (const OfferPtr& offer : selection.choices)
    kernel_bytes.push_back(offer->candidate.workspace_bytes);
  return padded_workspace_bytes(
      lay_out(workspace_contents(*selection.partition, pack, kernel_bytes).requests).bytes);
}

}  // namespace warploom::plan
