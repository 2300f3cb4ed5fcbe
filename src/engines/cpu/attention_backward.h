#pragma once

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {

/// The gradient of attention without its scores ever being stored: blocks of queries against blocks
/// of keys, scores and probabilities computed again from Stats.
class AttentionBackwardEngine final : public CpuEngine {
 public:
  engine::EngineInfo info() const override;
  engine::Verdict supports(const fusion::FusionGroup& group, const Device& device) const override;

 protected:
  Result<std::unique_ptr<const CpuKernel>> make_kernel(const fusion::FusionGroup& group,
                                                       const engine::KnobSettings& knobs,
                                                       const Machine& machine) const override;
};

}  // namespace warploom::cpu
