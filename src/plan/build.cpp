#include "plan/build.h"

#include "plan/kernel.h"

namespace warploom::plan {

Result<BuiltPlan> build_plan(const Selection& selection, const Device& device,
                             const BindTarget& target) {
  std::vector<KernelPtr> kernels;
  for (size_t i = 0; i < selection.choices.size(); ++i) {
    const fusion::FusionGroup& group = selection.partition->groups[i].survey->group;
    auto kernel = kernel_of(group, *selection.choices[i], device);
    if (kernel.is_bad()) return step_error(selection, i, kernel.error());
    kernels.push_back(std::move(kernel).value());
  }
  auto plan = bind_plan(selection, kernels, target);
  CHECK_WARPLOOM_ERROR(plan.error());
  return BuiltPlan{std::move(kernels), std::move(plan).value()};
}

int64_t expected_workspace_bytes(const Selection& selection, const BindTarget& target) {
  std::vector<int64_t> kernel_bytes;
  for (const OfferPtr& offer : selection.choices)
    kernel_bytes.push_back(offer->candidate.workspace_bytes);
  const auto contents = workspace_contents(*selection.partition, target, kernel_bytes);
  return padded_workspace_bytes(lay_out(contents.requests).bytes);
}

}  // namespace warploom::plan
