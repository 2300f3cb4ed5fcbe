#include "plan/survey.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "engine/refusal_text.h"
#include "plan/plan_name.h"
#include "plan/tuning_memory.h"

namespace warploom::plan {
namespace {

constexpr double kNever = 1e15;  ///< microseconds

bool is_fast(const Offer& offer) {
  return !offer.info.is_fallback && !offer.info.is_last_resort;
}
bool is_fallback(const Offer& offer) {
  return offer.info.is_fallback;
}
bool is_no_last_resort(const Offer& offer) {
  return !offer.info.is_last_resort;
}
bool is_any(const Offer&) {
  return true;
}

template <class Predicate>
std::vector<OfferPtr> offers_where(const GroupSurvey& survey, Predicate&& predicate) {
  std::vector<OfferPtr> offers;
  std::ranges::copy_if(survey.offers, std::back_inserter(offers),
                       [&](const OfferPtr& offer) { return predicate(*offer); });
  return offers;
}

/// The offers for a whole group, none if it is better split.
std::vector<OfferPtr> takers_of_whole(const GroupSurvey& survey, const Takers& takers) {
  if (takers.kind == Takers::Kind::kNamed) {
    auto offers = offers_where(
        survey, [&](const Offer& offer) { return offer.candidate.engine == takers.engine; });
    if (!offers.empty()) return offers;
  }
  if (takers.kind == Takers::Kind::kFallback) return offers_where(survey, is_fallback);
  // One fast engine makes the group worth keeping whole; the slower ones are then on offer as well.
  if (std::ranges::none_of(survey.offers, [](const auto& offer) { return is_fast(*offer); }))
    return {};
  return offers_where(survey, is_no_last_resort);
}

/// The offers for a group that splits no further.
std::vector<OfferPtr> takers_of_last_piece(const GroupSurvey& survey) {
  auto offers = offers_where(survey, is_no_last_resort);
  return offers.empty() ? offers_where(survey, is_any) : offers;
}

error_t nobody_takes(const GroupSurvey& survey) {
  const ir::FrozenGraph& graph = *survey.group.graph;
  std::string nodes;
  for (ir::NodeId node : survey.group.nodes)
    nodes += (nodes.empty() ? "'" : ", '") + graph.node(node).name + "'";
  std::string text = "No engine supports node " + nodes + ":";
  for (const EngineRefusal& refusal : survey.refusals)
    text += "\n  " + engine::refusal_text(refusal.engine, refusal.refusal, graph);
  return {error_code_t::GRAPH_NOT_SUPPORTED, std::move(text)};
}

error_t nothing_to_run() {
  return {error_code_t::HEURISTIC_QUERY_FAILED,
          "The graph has nothing to run: no operation leads to an output. Results that are wanted "
          "need set_output(true)"};
}

void sort_by_expected_time(std::vector<OfferPtr>& offers) {
  std::ranges::stable_sort(offers, {}, [](const OfferPtr& offer) {
    return std::pair(offer->info.is_last_resort, offer->expected_microseconds);
  });
}

}  // namespace

OfferPtr make_offer(std::shared_ptr<const engine::Engine> engine, engine::EngineInfo info,
                    engine::Candidate candidate) {
  auto offer = std::make_shared<Offer>();
  offer->engine = std::move(engine);
  offer->info = std::move(info);
  offer->candidate = std::move(candidate);
  offer->candidate.engine = offer->info.name;
  offer->name = step_name(offer->candidate);
  return offer;
}

Survey::Survey(std::shared_ptr<const ir::FrozenGraph> graph, EngineList engines, Device device,
               const TuningMemory& tuning)
    : graph_(std::move(graph)),
      engines_(std::move(engines)),
      device_(std::move(device)),
      tuning_(tuning) {}

void Survey::use_engines(EngineList engines) {
  if (engines == engines_) return;
  engines_ = std::move(engines);
  surveys_.clear();
}

Result<std::vector<PartitionPtr>> Survey::resolve(const Takers& takers, bool uses_measurements) {
  uses_measurements_ = uses_measurements;
  for (auto& [key, survey] : surveys_) set_expected_times(*survey);
  std::vector<PartitionPtr> resolved;
  error_t failure = nothing_to_run();
  if (!partitions_) partitions_ = fusion::partitions(graph_);
  for (const fusion::Partition& partition : *partitions_) {
    if (partition.groups.empty()) continue;
    auto candidate = std::make_shared<ResolvedPartition>();
    candidate->style = partition.style;
    candidate->aliases = partition.aliases;
    candidate->stops = partition.stops;
    error_t error;
    for (const fusion::FusionGroup& group : partition.groups) {
      error = resolve_group(group, takers, *candidate);
      if (error.is_bad()) break;
    }
    if (error.is_good())
      resolved.push_back(std::move(candidate));
    else
      failure = std::move(error);
  }
  if (resolved.empty()) return failure;
  if (uses_measurements) scale_unmeasured_groups();
  return resolved;
}

error_t Survey::resolve_group(const fusion::FusionGroup& group, const Takers& takers,
                              ResolvedPartition& partition) {
  const auto survey = ask(group);
  std::vector<OfferPtr> offers = takers_of_whole(*survey, takers);
  if (offers.empty()) {
    const std::vector<fusion::FusionGroup> pieces = fusion::split(group);
    if (pieces.size() > 1) {
      partition.refused.push_back(survey);
      for (const fusion::FusionGroup& piece : pieces)
        CHECK_WARPLOOM_ERROR(resolve_group(piece, takers, partition));
      return {};
    }
    offers = takers_of_last_piece(*survey);
    if (offers.empty()) return nobody_takes(*survey);
  }
  sort_by_expected_time(offers);
  partition.groups.push_back({survey, std::move(offers)});
  return {};
}

std::shared_ptr<const GroupSurvey> Survey::ask(const fusion::FusionGroup& group) {
  std::shared_ptr<GroupSurvey>& place = surveys_[{group.nodes, group.inputs, group.outputs}];
  if (place) return place;
  auto survey = std::make_shared<GroupSurvey>();
  survey->group = group;
  for (const auto& engine : engines_) {
    engine::EngineInfo info = engine->info();
    engine::Verdict verdict = engine->supports(group, device_);
    if (!verdict.is_supported) {
      survey->refusals.push_back({info.name, std::move(verdict.refusal)});
      continue;
    }
    auto candidates = engine->candidates(group, device_);
    if (candidates.is_bad() || candidates.value().empty()) {
      engine::Refusal refusal;
      refusal.rule = "supports the group but lists no candidates";
      refusal.found = candidates.error().err_msg;
      survey->refusals.push_back({info.name, std::move(refusal)});
      continue;
    }
    for (engine::Candidate& candidate : candidates.value())
      survey->offers.push_back(make_offer(engine, info, std::move(candidate)));
  }
  set_expected_times(*survey);
  return place = std::move(survey);
}

void Survey::set_expected_times(GroupSurvey& survey) const {
  for (const OfferPtr& offer : survey.offers) {
    // An engine of a user's may predict anything: what is no time ranks last.
    const double predicted = offer->candidate.predicted_microseconds;
    offer->expected_microseconds = predicted >= 0 ? std::min(predicted, kNever) : kNever;
  }
  survey.measured_per_predicted = 0;
  if (uses_measurements_) {
    std::vector<TuningMemory::Prediction> predictions;
    for (const OfferPtr& offer : survey.offers)
      predictions.push_back({offer->name, offer->expected_microseconds});
    const ExpectedTimes expected =
        tuning_.expect(tuning_problem(survey.group, device_), predictions);
    for (size_t i = 0; i < survey.offers.size(); ++i)
      survey.offers[i]->expected_microseconds = expected.microseconds[i];
    survey.measured_per_predicted = expected.measured_per_predicted;
  }
  sort_by_expected_time(survey.offers);
}

void Survey::scale_unmeasured_groups() const {
  double logarithms = 0;
  int measured = 0;
  for (const auto& [key, survey] : surveys_)
    if (survey->measured_per_predicted > 0) {
      logarithms += std::log(survey->measured_per_predicted);
      ++measured;
    }
  if (measured == 0) return;
  const double scale = std::exp(logarithms / measured);
  for (const auto& [key, survey] : surveys_)
    if (survey->measured_per_predicted == 0)
      for (const OfferPtr& offer : survey->offers) offer->expected_microseconds *= scale;
}

}  // namespace warploom::plan
