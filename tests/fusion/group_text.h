#pragma once
#include <string>

#include "fusion/partition.h"

namespace warploom::fusion_test {

/// One line a group, by node names: "[relu>A] matmul: add gelu | amax -> gelu::OUT amax::OUT", that
/// is prologues with their ports, the anchor, the epilogue's nodes, its reductions, the outputs.
std::string group_text(const fusion::FusionGroup& group);
std::string text_of(const fusion::Partition& partition);

}  // namespace warploom::fusion_test
