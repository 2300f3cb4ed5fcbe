#pragma once

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {

/// Reshapes, transposes and slices that copy.
class MoveEngine final : public CpuEngine {
 public:
  engine::EngineInfo info() const override;
  engine::Verdict supports(const fusion::FusionGroup& group, const Device& device) const override;

 protected:
  Result<std::unique_ptr<const CpuKernel>> make_kernel(const fusion::FusionGroup& group,
                                                       const engine::KnobSettings& knobs,
                                                       const Machine& machine) const override;
};

/// The kernel of such a group, for engines that also take others.
std::unique_ptr<const CpuKernel> make_move_kernel(const fusion::FusionGroup& group,
                                                  const Machine& machine);

}  // namespace warploom::cpu
