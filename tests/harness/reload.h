#pragma once
/// Plans that go through a container and come back.
#include <string>
#include <vector>

#include "harness/plan_runner.h"

namespace warploom::test {

/// Serializes the plan at `index` (which becomes the candidate), loads it into a graph of its own
/// and runs both: what of the new one is not as it was, "" if nothing. Outputs are compared bit by
/// bit.
std::string difference_after_reload(graph::Graph& graph, int64_t index, const ValuesByUid& inputs,
                                    const std::vector<int64_t>& outputs);

/// "" where both have the same bits, else the first output that differs.
std::string bit_difference(const ValuesByUid& got, const ValuesByUid& expected);

}  // namespace warploom::test
