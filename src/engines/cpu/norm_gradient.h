#pragma once

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {

/// Gradients of normalizations, and the sums of batch normalization: parts of "cpu.norm".
engine::Verdict check_norm_gradient(const fusion::FusionGroup& group);
std::unique_ptr<const CpuKernel> make_norm_gradient_kernel(const fusion::FusionGroup& group,
                                                           const Machine& machine);

}  // namespace warploom::cpu
