#include "engine/refusal_text.h"
#include "plan/fit.h"
#include "plan/plan_list.h"
#include "plan/tuning_memory.h"

namespace warploom::plan {
namespace {

std::vector<std::string> refusal_texts(const GroupSurvey& survey) {
  std::vector<std::string> texts;
  for (const EngineRefusal& refusal : survey.refusals)
    texts.push_back(engine::refusal_text(refusal.engine, refusal.refusal, *survey.group.graph));
  return texts;
}

Explanation::Group explain_group(const ResolvedGroup& group, const Offer* chosen,
                                 const std::shared_ptr<const ir::FrozenGraph>& graph,
                                 const Device& device, const TuningMemory& tuning) {
  Explanation::Group explained{group_on(*group.survey, graph), {}, refusal_texts(*group.survey)};
  const TuningProblem problem = tuning_problem(explained.group, device);
  auto add = [&](const Offer& offer) {
    explained.candidates.push_back({offer.name, offer.candidate.predicted_microseconds,
                                    tuning.measured(problem, offer.name),
                                    offer.candidate.workspace_bytes, &offer == chosen});
  };
  bool is_listed = false;
  for (const OfferPtr& offer : group.offers) {
    add(*offer);
    is_listed |= offer.get() == chosen;
  }
  if (!is_listed) add(*chosen);  // named by the user
  return explained;
}

}  // namespace

Explanation PlanList::explain(const Limits& limits) const {
  Explanation explanation;
  explanation.graph = survey_.graph();
  explanation.device = device();
  for (int64_t index = 0; index < size(); ++index) {
    explanation.plans.push_back(info(index, limits));
    if (explanation.plan < 0 && explanation.plans.back().barred.empty()) explanation.plan = index;
  }
  if (candidate() >= 0) explanation.plan = candidate();
  if (explanation.plan < 0) return explanation;

  const Selection& selection = entry(explanation.plan).selection();
  const ResolvedPartition& partition = *selection.partition;
  explanation.style = partition.style;
  for (size_t i = 0; i < partition.groups.size(); ++i)
    explanation.groups.push_back(explain_group(partition.groups[i], selection.choices[i].get(),
                                               survey_.graph(), device(), tuning_));
  for (const auto& survey : partition.refused)
    explanation.refused.push_back({group_on(*survey, survey_.graph()), {}, refusal_texts(*survey)});
  explanation.views = partition.aliases;
  explanation.stops = partition.stops;
  if (const Plan* built = plan(explanation.plan))
    explanation.workspace = workspace_ranges(selection, *built, target_);
  explanation.workspace_bytes = explanation.plans[explanation.plan].workspace_bytes;
  return explanation;
}

}  // namespace warploom::plan
