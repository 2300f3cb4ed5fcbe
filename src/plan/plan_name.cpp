#include "plan/plan_name.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "engine/knobs.h"

namespace warploom::plan {
namespace {

constexpr size_t kLongestName = 160;
constexpr size_t kLongestKeptPart = 96;

std::string short_hash(uint64_t value) {
  return fmt::format("@{:08x}", static_cast<uint32_t>(value ^ (value >> 32)));
}

bool step_has_component(std::string_view step, std::string_view filter) {
  if (step == filter) return true;
  const size_t colon = std::min(step.find(':'), step.size());
  const std::string_view engine = step.substr(0, colon);
  if (engine.starts_with(filter) &&
      (engine.size() == filter.size() || engine[filter.size()] == '.'))
    return true;
  if (colon == step.size()) return false;
  const auto knobs = split_text(step.substr(colon + 1), ',');
  return std::ranges::find(knobs, filter) != knobs.end();
}

}  // namespace

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string step_name(const engine::Candidate& candidate) {
  std::string name = candidate.engine;
  char separator = ':';
  for (const auto& [type, value] : candidate.knobs) {
    name += fmt::format("{}{}={}", separator, engine::knob_name(type), value);
    separator = ',';
  }
  return name;
}

std::string grouping_tag(const ResolvedPartition& partition) {
  const auto& groups = partition.groups;
  const auto nodes = [](const ResolvedGroup& group) { return group.survey->group.nodes; };
  const auto is_single = [&](const ResolvedGroup& group) { return nodes(group).size() == 1; };
  const bool is_plain = groups.size() == 1 || (std::ranges::all_of(groups, is_single) &&
                                               std::ranges::is_sorted(groups, {}, nodes));
  if (is_plain) return {};
  base::Hash hash;
  for (const ResolvedGroup& group : groups) hash.add(nodes(group)).add(group.survey->group.outputs);
  return short_hash(hash.value());
}

std::string plan_name(const ResolvedPartition& partition, std::span<const OfferPtr> choices) {
  std::string name;
  for (const OfferPtr& choice : choices) name += (name.empty() ? "" : "|") + choice->name;
  const std::string tag = grouping_tag(partition);
  return tag.empty() ? name : name + "|" + tag;
}

std::string shortened(const std::string& full_name) {
  if (full_name.size() <= kLongestName) return full_name;
  const auto steps = split_text(full_name, '|');
  std::string name;
  size_t kept = 0;
  while (kept < steps.size() && name.size() + steps[kept].size() < kLongestKeptPart)
    name.append(steps[kept++]).append("|");
  return name +
         fmt::format("+{}{}", steps.size() - kept, short_hash(base::Hash().add(full_name).value()));
}

bool has_component(std::string_view full_name, std::string_view filter) {
  if (filter.empty()) return false;
  if (full_name == filter) return true;
  return std::ranges::any_of(split_text(full_name, '|'), [&](std::string_view step) {
    return step_has_component(step, filter);
  });
}

}  // namespace warploom::plan
