#include "plan/custom_selection.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "engine/knobs.h"
#include "plan/plan_name.h"

namespace warploom::plan {
namespace {

/// "tile_m=56" as a knob of this engine.
bool parse_knob(std::string_view text, const engine::EngineInfo& info,
                std::unordered_map<KnobType_t, int64_t>& knobs) {
  const size_t equals = text.find('=');
  if (equals == text.npos) return false;
  const auto knob = std::ranges::find(info.knobs, text.substr(0, equals), [](const Knob& knob) {
    return engine::knob_name(knob.type);
  });
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + equals + 1, end, value);
  if (knob == info.knobs.end() || parsed.ec != std::errc() || parsed.ptr != end) return false;
  return knobs.emplace(knob->type, value).second;
}

/// The offer called `step`: listed, or made from the engine and the knobs that the name gives.
OfferPtr offer_by_name(const GroupSurvey& survey, std::string_view step) {
  const auto listed = std::ranges::find(
      survey.offers, step, [](const OfferPtr& o) -> std::string_view { return o->name; });
  if (listed != survey.offers.end()) return *listed;

  const size_t colon = std::min(step.find(':'), step.size());
  const std::string_view engine = step.substr(0, colon);
  const auto other = std::ranges::find(survey.offers, engine, [](const OfferPtr& offer) {
    return std::string_view(offer->info.name);
  });
  if (colon == step.size() || other == survey.offers.end()) return nullptr;
  std::unordered_map<KnobType_t, int64_t> requested;
  for (std::string_view knob : split_text(step.substr(colon + 1), ','))
    if (!parse_knob(knob, (*other)->info, requested)) return nullptr;
  const auto knobs = engine::knob_settings((*other)->info, requested);
  if (knobs.is_bad()) return nullptr;
  OfferPtr offer = offer_with_knobs(survey, engine, knobs.value());
  return offer->name == step ? offer : nullptr;
}

}  // namespace

OfferPtr offer_with_knobs(const GroupSurvey& survey, std::string_view engine,
                          const engine::KnobSettings& knobs) {
  const auto best = std::ranges::find(survey.offers, engine, [](const OfferPtr& offer) {
    return std::string_view(offer->info.name);
  });
  if (best == survey.offers.end()) return nullptr;
  if (knobs.empty()) return *best;
  engine::Candidate candidate = (*best)->candidate;
  candidate.knobs = engine::merged((*best)->info, candidate.knobs, knobs);
  for (const OfferPtr& offer : survey.offers)
    if (offer->info.name == engine && offer->candidate.knobs == candidate.knobs) return offer;
  // Its time is not known; that of the engine's first choice is the nearest there is.
  OfferPtr offer = make_offer((*best)->engine, (*best)->info, std::move(candidate));
  offer->expected_microseconds = (*best)->expected_microseconds;
  return offer;
}

std::optional<Selection> selection_by_engine(std::span<const PartitionPtr> partitions,
                                             std::string_view engine,
                                             const engine::KnobSettings& knobs) {
  std::optional<Selection> chosen;
  size_t most_nodes = 0;
  for (const PartitionPtr& partition : partitions) {
    Selection selection = best_of(partition);
    selection.expected_microseconds = 0;
    size_t nodes = 0;
    for (size_t i = 0; i < partition->groups.size(); ++i) {
      const GroupSurvey& survey = *partition->groups[i].survey;
      if (OfferPtr offer = offer_with_knobs(survey, engine, knobs)) {
        selection.choices[i] = std::move(offer);
        nodes += survey.group.nodes.size();
      }
      selection.expected_microseconds += selection.choices[i]->expected_microseconds;
    }
    const bool is_better =
        nodes > most_nodes || (chosen && nodes == most_nodes &&
                               selection.expected_microseconds < chosen->expected_microseconds);
    if (!is_better) continue;
    most_nodes = nodes;
    chosen = std::move(selection);
  }
  return chosen;
}

std::optional<Selection> selection_by_name(std::span<const PartitionPtr> partitions,
                                           std::string_view name) {
  for (const PartitionPtr& partition : partitions) {
    auto steps = split_text(name, '|');
    if (const std::string tag = grouping_tag(*partition); !tag.empty()) {
      if (steps.back() != tag) continue;
      steps.pop_back();
    }
    if (steps.size() != partition->groups.size()) continue;
    Selection selection{partition, {}, 0};
    for (size_t i = 0; i < steps.size(); ++i) {
      OfferPtr offer = offer_by_name(*partition->groups[i].survey, steps[i]);
      if (!offer) break;
      selection.expected_microseconds += offer->expected_microseconds;
      selection.choices.push_back(std::move(offer));
    }
    if (selection.choices.size() == steps.size()) return selection;
  }
  return std::nullopt;
}

std::vector<std::string> engines_in(std::string_view name) {
  std::vector<std::string> engines;
  for (std::string_view step : split_text(name, '|')) {
    std::string engine(step.substr(0, step.find(':')));
    if (std::ranges::find(engines, engine) == engines.end()) engines.push_back(std::move(engine));
  }
  return engines;
}

}  // namespace warploom::plan
