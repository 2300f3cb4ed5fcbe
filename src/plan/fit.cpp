#include "plan/fit.h"

#include <fmt/format.h>

#include "engine/refusal_text.h"
#include "fusion/view.h"

namespace warploom::plan {
namespace {

error_t does_not_fit(std::string_view reason) {
  return {error_code_t::GRAPH_NOT_SUPPORTED,
          fmt::format("The plan does not serve these shapes: {}", reason)};
}

error_t check_views(const ResolvedPartition& partition, const ir::FrozenGraph& graph) {
  for (const fusion::Alias& alias : partition.aliases)
    for (ir::TensorId tensor = alias.tensor; tensor != alias.source;) {
      const ir::NodeId producer = graph.tensor(tensor).producer;
      if (graph.tensor(tensor).shape.volume() != 0 && !fusion::is_view(graph, producer))
        return does_not_fit(
            fmt::format("it reads tensor \"{}\" as a view of other memory, which "
                        "it is not with these strides",
                        graph.tensor(tensor).name));
      tensor = graph.node(producer).inputs[0];
    }
  return {};
}

}  // namespace

fusion::FusionGroup group_on(const GroupSurvey& survey,
                             const std::shared_ptr<const ir::FrozenGraph>& graph) {
  fusion::FusionGroup group = survey.group;
  group.graph = graph;
  return group;
}

std::vector<fusion::FusionGroup> groups_on(const Selection& selection,
                                           const std::shared_ptr<const ir::FrozenGraph>& graph) {
  std::vector<fusion::FusionGroup> groups;
  groups.reserve(selection.choices.size());
  for (const ResolvedGroup& group : selection.partition->groups)
    groups.push_back(group_on(*group.survey, graph));
  return groups;
}

error_t check_fit(const Selection& selection, std::span<const fusion::FusionGroup> groups,
                  const Device& device) {
  if (groups.empty()) return {};
  const ir::FrozenGraph& graph = *groups[0].graph;
  CHECK_WARPLOOM_ERROR(check_views(*selection.partition, graph));
  for (size_t i = 0; i < groups.size(); ++i) {
    const Offer& offer = *selection.choices[i];
    const engine::Verdict verdict = offer.engine->supports(groups[i], device);
    if (!verdict.is_supported)
      return does_not_fit(engine::refusal_text(offer.info.name, verdict.refusal, graph));
  }
  return {};
}

}  // namespace warploom::plan
