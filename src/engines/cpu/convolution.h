#pragma once

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {

/// Convolution in 1 to 3 dimensions and its gradients, as matrix products of rows of channels (for
/// the filter: of pixels).
class ConvolutionEngine final : public CpuEngine {
 public:
  engine::EngineInfo info() const override;
  engine::Verdict supports(const fusion::FusionGroup& group, const Device& device) const override;

 protected:
  std::vector<engine::KnobSettings> configurations(const fusion::FusionGroup& group,
                                                   const Device& device) const override;
  Result<std::unique_ptr<const CpuKernel>> make_kernel(const fusion::FusionGroup& group,
                                                       const engine::KnobSettings& knobs,
                                                       const Machine& machine) const override;
};

}  // namespace warploom::cpu
