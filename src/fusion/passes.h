#pragma once
/// The passes that make a partition, in the order of partition.cpp. Each looks at the groups that
/// the earlier ones left, joins what its rule allows and notes why the rest stays apart.
#include "fusion/grouping.h"

namespace warploom::fusion {

void drop_dead_nodes(Grouping& grouping);
void mark_views(Grouping& grouping);
void compose_attention(Grouping& grouping);
void grow_epilogues(Grouping& grouping);
void grow_prologues(Grouping& grouping);
void join_regions(Grouping& grouping);
void recompute_cheap_values(Grouping& grouping);
void absorb_reductions(Grouping& grouping);
void absorb_side_values(Grouping& grouping);

}  // namespace warploom::fusion
