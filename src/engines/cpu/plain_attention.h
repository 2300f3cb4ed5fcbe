#pragma once

#include <memory>

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {

/// Attention of any strides and types, query by query, in double.
std::unique_ptr<const CpuKernel> make_plain_attention_kernel(const fusion::FusionGroup& group,
                                                             const Machine& machine);

}  // namespace warploom::cpu
