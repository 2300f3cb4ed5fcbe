#pragma once
#include <warploom/fusion_group.h>

namespace warploom::engines::reference {

/// From the number of elementary steps; only there to rank this engine after every other.
double predicted_microseconds(const fusion::FusionGroup& group);

}  // namespace warploom::engines::reference
