#pragma once

#include <memory>

#include "plan/survey.h"

namespace warploom::plan {

/// The kernel of an offer, built or loaded the first time it is asked for: every plan that has the
/// offer shares it, whatever its shapes.
Result<std::shared_ptr<const engine::Kernel>> kernel_of(const fusion::FusionGroup& group,
                                                        Offer& offer, const Device& device);

/// Kernels that this process has built or loaded, for those who want to know whether it had to.
int64_t made_kernel_count();

}  // namespace warploom::plan
