#include "engines/cpu/norm.h"

#include "engines/cpu/bound_norm.h"
#include "engines/cpu/group_checks.h"
#include "engines/cpu/norm_gradient.h"
#include "ops/norm_axes.h"

namespace warploom::cpu {
namespace {

class NormKernel final : public CpuKernel {
 public:
  explicit NormKernel(std::shared_ptr<const NormProgram> program) : program_(std::move(program)) {}
  Result<std::unique_ptr<CpuBoundKernel>> bind_shapes(ir::ShapeTable shapes) const override {
    return bind_norm(program_, shapes);
  }

 private:
  std::shared_ptr<const NormProgram> program_;
};

}  // namespace

engine::EngineInfo NormEngine::info() const {
  return {.name = "cpu.norm", .knobs = {}};
}

engine::Verdict NormEngine::supports(const fusion::FusionGroup& group, const Device&) const {
  return check_norm(group);
}

Result<std::unique_ptr<const CpuKernel>> NormEngine::make_kernel(const fusion::FusionGroup& group,
                                                                 const engine::KnobSettings&,
                                                                 const Machine& machine) const {
  return make_norm_kernel(group, machine);
}

engine::Verdict check_norm(const fusion::FusionGroup& group) {
  if (auto verdict = check_anchor(group, fusion::AnchorKind::kNorm, "one normalization");
      !verdict.is_supported)
    return verdict;
  if (!group.prologues.empty())
    return refuse("nothing is computed before a normalization", group.anchor,
                  group.node(group.anchor).inputs[group.prologues.front().port],
                  "pointwise work on an input", "none");
  if (!ops::is_forward_normalization(group.node(group.anchor).operation))
    return check_norm_gradient(group);
  return check_group(group);
}

std::unique_ptr<const CpuKernel> make_norm_kernel(const fusion::FusionGroup& group,
                                                  const Machine& machine) {
  if (!ops::is_forward_normalization(group.node(group.anchor).operation))
    return make_norm_gradient_kernel(group, machine);
  auto program = std::make_shared<NormProgram>();
  program->group = group;
  program->machine = machine;
  program->epilogue = compile_expression(
      group, group.epilogue,
      {.shape = kNormTile, .anchor_type = NormProblem(group, declared_shapes(group)).compute});
  return std::make_unique<NormKernel>(std::move(program));
}

}  // namespace warploom::cpu
