#include "plan/shaped_plan.h"

#include "plan/fit.h"

namespace warploom::plan {

ShapedPlan::ShapedPlan(const Selection& selection,
                       const std::shared_ptr<const ir::FrozenGraph>& graph)
    : inference_(graph),
      target_(inference_.graph()),
      groups_(groups_on(selection, target_.graph)) {}

error_t ShapedPlan::bind(const Selection& selection, std::span<const KernelPtr> kernels,
                         const Device& device, const graph::ShapeOverrides& overrides) {
  plan_.reset();
  CHECK_WARPLOOM_ERROR(inference_.infer(overrides));
  target_.update();
  CHECK_WARPLOOM_ERROR(check_fit(selection, groups_, device));
  auto plan = bind_plan(selection, kernels, target_);
  CHECK_WARPLOOM_ERROR(plan.error());
  plan_.emplace(std::move(plan).value());
  return {};
}

bool ShapedPlan::owns_graph() const {
  const auto own = 2 + groups_.size();  // the inference's, the target's, the groups'
  return target_.graph.use_count() == static_cast<long>(own);
}

}  // namespace warploom::plan
