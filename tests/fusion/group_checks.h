#pragma once
#include "fusion/partition.h"

namespace warploom::fusion_test {

/// GTest failures for whatever is inconsistent: group interiors, order, who writes what, stops.
void check_group(const fusion::FusionGroup& group);
void check_partition(const std::shared_ptr<const ir::FrozenGraph>& graph,
                     const fusion::Partition& partition);
/// That these groups, in this order, read only `available` tensors and what earlier ones wrote, and
/// write `wanted`, each tensor once.
void check_order(const std::vector<fusion::FusionGroup>& groups,
                 const std::vector<fusion::Alias>& aliases, std::vector<bool> available,
                 const std::vector<ir::TensorId>& wanted);

}  // namespace warploom::fusion_test
