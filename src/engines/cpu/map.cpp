#include "engines/cpu/map.h"

#include "engines/cpu/accumulators.h"
#include "engines/cpu/group_checks.h"
#include "engines/cpu/walk.h"

namespace warploom::cpu {
namespace {

struct MapProgram {
  fusion::FusionGroup group;
  Machine machine;
  WalkProgram walk;
};

class BoundMap final : public CpuBoundKernel {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(std::shared_ptr<const MapProgram> program,
                                                      ir::ShapeTable shapes) {
    auto bound = std::make_unique<BoundMap>();
    bound->walk_.bind(program->walk, program->group, shapes, program->machine, bound->layout_);
    bound->program_ = std::move(program);
    return std::unique_ptr<CpuBoundKernel>(std::move(bound));
  }

  double predicted_microseconds() const override {
    return cpu::predicted_microseconds(walk_.work(), program_->machine.kernels->level,
                                       program_->machine.threads());
  }

  error_t launch(void*, std::span<void* const> pointers, void* workspace) const noexcept override {
    auto* memory = static_cast<std::byte*>(workspace);
    walk_.run(program_->machine, pointers, memory);
    finish_reductions(walk_.expression(), pointers, memory, program_->machine);
    return {};
  }

 private:
  std::shared_ptr<const MapProgram> program_;
  BoundWalk walk_;
};

}  // namespace

std::unique_ptr<const CpuKernel> make_map_kernel(const fusion::FusionGroup& group,
                                                 const Machine& machine) {
  auto program = std::make_shared<MapProgram>();
  program->group = group;
  program->machine = machine;
  program->walk = compile_walk(group, group.epilogue);
  return std::make_unique<SharedProgramKernel<MapProgram, BoundMap>>(std::move(program));
}

engine::EngineInfo MapEngine::info() const {
  return {.name = "cpu.map", .knobs = {}};
}

engine::Verdict MapEngine::supports(const fusion::FusionGroup& group, const Device&) const {
  auto verdict = check_anchor(group, fusion::AnchorKind::kNone, "pointwise operations only");
  return verdict.is_supported ? check_group(group) : verdict;
}

Result<std::unique_ptr<const CpuKernel>> MapEngine::make_kernel(const fusion::FusionGroup& group,
                                                                const engine::KnobSettings&,
                                                                const Machine& machine) const {
  return make_map_kernel(group, machine);
}

}  // namespace warploom::cpu
