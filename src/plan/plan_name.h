#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/survey.h"

namespace warploom::plan {

// A plan's name says who runs what: its steps in order, joined by '|', each an engine and its
// knobs, "cpu.gemm:tile_m=56,tile_n=64|cpu.map". Where the steps alone do not say which operations
// are in which step (several steps, not of one operation each in the graph's order), a last
// component "@1a2b3c4d" is a hash of that. The name is a function of graph and plan alone: the same
// in every build and process.

std::string step_name(const engine::Candidate& candidate);

/// In full, however long.
std::string plan_name(const ResolvedPartition& partition, std::span<const OfferPtr> choices);

/// The name that users see: a long one keeps its first steps and ends in the number of those left
/// out and a hash of the full name: "cpu.map|cpu.map|+498@1a2b3c4d".
std::string shortened(const std::string& full_name);

/// The last component of plan_name, empty where it is not needed.
std::string grouping_tag(const ResolvedPartition& partition);

/// Whether `filter` is a whole component of a full plan name: the name, a step, an engine, a prefix
/// of an engine that ends at a '.', or a knob ("cpu", "cpu.gemm", "tile_m=56").
bool has_component(std::string_view full_name, std::string_view filter);

/// The parts between separators, empty ones included.
std::vector<std::string_view> split_text(std::string_view text, char separator);

}  // namespace warploom::plan
