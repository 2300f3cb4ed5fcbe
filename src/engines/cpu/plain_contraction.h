#pragma once

#include <memory>

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {

/// Matmul and convolution of any strides, types and options, in double or, where all is integer,
/// in int64.
std::unique_ptr<const CpuKernel> make_plain_contraction_kernel(const fusion::FusionGroup& group,
                                                               const Machine& machine);

}  // namespace warploom::cpu
