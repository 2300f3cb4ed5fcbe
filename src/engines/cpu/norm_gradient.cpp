#include "engines/cpu/norm_gradient.h"

#include <algorithm>

#include "engines/cpu/bound_batchnorm_finalize.h"
#include "engines/cpu/bound_channel_gradient.h"
#include "engines/cpu/bound_row_gradient.h"
#include "engines/cpu/group_checks.h"

namespace warploom::cpu {
namespace {

class NormGradientKernel final : public CpuKernel {
 public:
  explicit NormGradientKernel(std::shared_ptr<const NormGradientProgram> program)
      : program_(std::move(program)) {}
  Result<std::unique_ptr<CpuBoundKernel>> bind_shapes(ir::ShapeTable shapes) const override {
    if (program_->group.anchor_as<graph::BN_finalize_attributes>())
      return std::unique_ptr<CpuBoundKernel>(
          std::make_unique<BoundBatchnormFinalize>(program_, shapes));
    NormGradientProblem problem(program_->group, shapes);
    if (problem.has_scale_rows)
      return std::unique_ptr<CpuBoundKernel>(
          std::make_unique<BoundRowGradient>(program_, std::move(problem)));
    return std::unique_ptr<CpuBoundKernel>(
        std::make_unique<BoundChannelGradient>(program_, std::move(problem), shapes));
  }

 private:
  std::shared_ptr<const NormGradientProgram> program_;
};

}  // namespace

engine::Verdict check_norm_gradient(const fusion::FusionGroup& group) {
  for (const fusion::ExpressionValue& value : group.epilogue.values)
    if (value.kind == fusion::ExpressionValue::Kind::kPointwise)
      return refuse("nothing is computed after a gradient of a normalization", value.node,
                    value.tensor, "pointwise work on a result", "none");
  return check_group(group);
}

std::unique_ptr<const CpuKernel> make_norm_gradient_kernel(const fusion::FusionGroup& group,
                                                           const Machine& machine) {
  return std::make_unique<NormGradientKernel>(
      std::make_shared<NormGradientProgram>(NormGradientProgram{group, machine}));
}

}  // namespace warploom::cpu
