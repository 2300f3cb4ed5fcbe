#pragma once

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {

/// Any group of the declared operations, of any strides and types.
class GenericEngine final : public CpuEngine {
 public:
  engine::EngineInfo info() const override;
  engine::Verdict supports(const fusion::FusionGroup& group, const Device& device) const override;

 protected:
  Result<std::unique_ptr<const CpuKernel>> make_kernel(const fusion::FusionGroup& group,
                                                       const engine::KnobSettings& knobs,
                                                       const Machine& machine) const override;
};

}  // namespace warploom::cpu
