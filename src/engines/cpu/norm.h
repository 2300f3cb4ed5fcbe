#pragma once

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {

/// "cpu.norm": softmax and the normalizations, row by row in per-thread buffers or, where channels
/// are last, column by column; with what follows a forward one fused on tiles of the rows. Any
/// strides; what is summed is summed in double.
class NormEngine final : public CpuEngine {
 public:
  engine::EngineInfo info() const override;
  engine::Verdict supports(const fusion::FusionGroup& group, const Device& device) const override;

 protected:
  Result<std::unique_ptr<const CpuKernel>> make_kernel(const fusion::FusionGroup& group,
                                                       const engine::KnobSettings& knobs,
                                                       const Machine& machine) const override;
};

/// The same for other engines.
engine::Verdict check_norm(const fusion::FusionGroup& group);
std::unique_ptr<const CpuKernel> make_norm_kernel(const fusion::FusionGroup& group,
                                                  const Machine& machine);

}  // namespace warploom::cpu
