#pragma once

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {

/// Pointwise groups, with reductions of their results: one pass over memory.
class MapEngine final : public CpuEngine {
 public:
  engine::EngineInfo info() const override;
  engine::Verdict supports(const fusion::FusionGroup& group, const Device& device) const override;

 protected:
  Result<std::unique_ptr<const CpuKernel>> make_kernel(const fusion::FusionGroup& group,
                                                       const engine::KnobSettings& knobs,
                                                       const Machine& machine) const override;
};

/// The kernel of such a group, for engines that also take others.
std::unique_ptr<const CpuKernel> make_map_kernel(const fusion::FusionGroup& group,
                                                 const Machine& machine);

}  // namespace warploom::cpu
