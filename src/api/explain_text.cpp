#include "api/explain_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/group_code.h"
#include "api/text_layout.h"
#include "fusion/reasons.h"

namespace warploom {

namespace {

using plan::Explanation;

std::string heading(const std::string& title, const std::string& right = "") {
  const size_t used = title.size() + right.size() + (right.empty() ? 4 : 5);
  const size_t rule = used < kColumns ? kColumns - used : 1;
  return fmt::format("\n-- {} {}{}{}\n", title, std::string(rule, '-'), right.empty() ? "" : " ",
                     right);
}

std::string count_text(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string title_text(const Explanation& explanation) {
  const ir::FrozenGraph& graph = *explanation.graph;
  const Device& device = explanation.device;
  const bool is_cpu = device.type == DeviceType::CPU;
  std::string text = graph.name.empty() ? "Graph" : fmt::format("Graph '{}'", graph.name);
  text += fmt::format(
      ": {}, on {} ({}, {})", count_text(graph.nodes.size(), "operation"),
      device.name.empty() ? (is_cpu ? "CPU" : "CUDA") : device.name, device.architecture,
      count_text(static_cast<size_t>(device.parallelism), is_cpu ? "thread" : "multiprocessor"));
  return wrapped("", 2, text);
}

std::string summary_text(const Explanation& explanation) {
  if (explanation.plan < 0)
    return explanation.plans.empty() ? "No plans yet: create_execution_plans() lists them.\n"
                                     : "No plan may run: every one is barred, see below.\n";
  const graph::PlanInfo& plan = explanation.plans[static_cast<size_t>(explanation.plan)];
  std::string text = wrapped(fmt::format("Plan {}: ", explanation.plan), 8, plan.name);
  text += fmt::format("        {}, {}; predicted {}, measured {}, workspace {}{}\n",
                      count_text(explanation.groups.size(), "kernel"), explanation.style,
                      time_text(plan.predicted_microseconds), time_text(plan.measured_microseconds),
                      bytes_text(plan.workspace_bytes), plan.is_built ? "" : ", not built yet");
  return text;
}

/// One row of the tables of what a kernel reads and writes.
std::vector<std::string> tensor_row(const std::string& verb, const ir::FrozenGraph& graph,
                                    ir::TensorId id) {
  const ir::Tensor& tensor = graph.tensor(id);
  std::string where = tensor.is_virtual ? "workspace" : "";
  if (tensor.is_pass_by_value) where = "host";
  if (tensor.value)
    where = fmt::format(
        "= {}", std::visit([](auto value) { return static_cast<double>(value); }, *tensor.value));
  return {verb,
          variable(graph, id),
          std::string(to_string(tensor.data_type)),
          fusion::label_dims(tensor.shape.dims),
          "strides " + fusion::label_dims(tensor.shape.strides),
          where.empty() ? tensor.name : where + "  " + tensor.name};
}

std::string memory_text(const fusion::FusionGroup& group) {
  std::vector<std::vector<std::string>> rows;
  for (ir::TensorId id : group.inputs)
    rows.push_back(tensor_row(rows.empty() ? "reads" : "", *group.graph, id));
  const size_t reads = rows.size();
  for (ir::TensorId id : group.outputs)
    rows.push_back(tensor_row(rows.size() == reads ? "writes" : "", *group.graph, id));
  return table_text("   ", rows, std::vector<bool>(6));
}

std::string code_text(const fusion::FusionGroup& group) {
  std::vector<std::vector<std::string>> rows;
  size_t widest = 0;
  const std::vector<CodeLine> lines = code_of(group);
  for (const CodeLine& line : lines)
    if (!line.remark.empty()) widest = std::max(widest, std::min<size_t>(line.code.size(), 60));
  std::string text;
  for (const CodeLine& line : lines)
    text +=
        wrapped("      ", 10,
                line.remark.empty() ? line.code
                                    : fmt::format("{:<{}}  # {}", line.code, widest, line.remark));
  return text;
}

std::string candidates_text(const std::vector<Explanation::Candidate>& candidates) {
  std::vector<std::vector<std::string>> rows{
      {"", "predicted", "measured", "workspace", "candidates"}};
  for (const Explanation::Candidate& candidate : candidates)
    rows.push_back({candidate.is_chosen ? ">" : "", time_text(candidate.predicted_microseconds),
                    time_text(candidate.measured_microseconds),
                    bytes_text(candidate.workspace_bytes), candidate.name});
  return table_text("   ", rows, {false, true, true, true, false});
}

std::string refusals_text(const std::vector<std::string>& refusals) {
  std::string text;
  for (const std::string& refusal : refusals)
    text += wrapped(text.empty() ? "   refused by  " : std::string(15, ' '), 17, refusal);
  return text;
}

std::string kind_text(const fusion::FusionGroup& group) {
  switch (group.anchor_kind) {
    case fusion::AnchorKind::kNone:
      return "pointwise";
    case fusion::AnchorKind::kContraction:
      return "contraction";
    case fusion::AnchorKind::kAttention:
      return "attention";
    case fusion::AnchorKind::kReduction:
      return "reduction";
    case fusion::AnchorKind::kNorm:
      return "normalization";
    case fusion::AnchorKind::kMovement:
      return "movement";
    case fusion::AnchorKind::kComposedAttention:
      return "composed attention";
    case fusion::AnchorKind::kOther:
      return "other";
  }
  return "";
}

std::string node_names(const fusion::FusionGroup& group) {
  std::vector<std::string> names;
  for (ir::NodeId id : group.nodes) names.push_back(fusion::label(*group.graph, id));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string groups_text(const Explanation& explanation) {
  std::string text;
  for (size_t index = 0; index < explanation.groups.size(); ++index) {
    const auto& [group, candidates, refusals] = explanation.groups[index];
    text += heading(
        fmt::format("Kernel {} of {}: {}", index + 1, explanation.groups.size(), kind_text(group)),
        count_text(group.nodes.size(), "operation"));
    text += code_text(group) + memory_text(group) + candidates_text(candidates) +
            refusals_text(refusals);
  }
  return text;
}

bool is_view(const Explanation& explanation, ir::NodeId node) {
  return std::any_of(explanation.views.begin(), explanation.views.end(),
                     [&](const fusion::Alias& view) {
                       return explanation.graph->tensor(view.tensor).producer == node;
                     });
}

std::string stops_text(const Explanation& explanation) {
  if (explanation.stops.empty() && explanation.refused.empty()) return "";
  const ir::FrozenGraph& graph = *explanation.graph;
  std::string text = heading("Why fusion stopped");
  for (const fusion::FusionStop& stop : explanation.stops) {
    // What is read through a view has its own section.
    if (stop.consumer != ir::kNoNode && is_view(explanation, stop.producer)) continue;
    text += wrapped("   ", 6,
                    stop.consumer == ir::kNoNode
                        ? fusion::label(graph, stop.producer)
                        : fmt::format("{} -> {}", fusion::label(graph, stop.producer),
                                      fusion::label(graph, stop.consumer)));
    text += wrapped("      ", 6, stop.reason);
  }
  for (const Explanation::Group& refused : explanation.refused) {
    text += wrapped("   ", 6, node_names(refused.group));
    text += "      could be one kernel, but no engine takes them together:\n";
    for (const std::string& refusal : refused.refusals) text += wrapped("      ", 9, refusal);
  }
  return text;
}

std::string views_text(const Explanation& explanation) {
  if (explanation.views.empty()) return "";
  const ir::FrozenGraph& graph = *explanation.graph;
  std::vector<ir::Shape> shapes;
  for (const ir::Tensor& tensor : graph.tensors) shapes.push_back(tensor.shape);
  std::string text = heading("Views, for which nothing runs");
  for (const fusion::Alias& view : explanation.views) {
    const ir::Tensor& tensor = graph.tensor(view.tensor);
    text += wrapped(
        "   ", 6,
        fmt::format("{} = {} from element {}: {} strides {}  {}", variable(graph, view.tensor),
                    variable(graph, view.source), fusion::view_offset(graph, view, shapes),
                    fusion::label_dims(tensor.shape.dims), fusion::label_dims(tensor.shape.strides),
                    tensor.name));
  }
  return text;
}

/// Without "step 0 cpu.gemm: ", which the table says in another column.
std::string purpose_text(const plan::WorkspaceRange& range) {
  const size_t colon = range.purpose.find(": ");
  const bool is_of_step = range.purpose.starts_with("step ") && colon != std::string::npos;
  return is_of_step ? range.purpose.substr(colon + 2) : range.purpose;
}

std::string workspace_text(const Explanation& explanation) {
  if (explanation.workspace.empty()) return "";
  std::vector<std::vector<std::string>> rows{{"from", "bytes", "kernels", "purpose"}};
  for (const plan::WorkspaceRange& range : explanation.workspace)
    rows.push_back({std::to_string(range.offset), std::to_string(range.bytes),
                    range.first_step == range.last_step
                        ? std::to_string(range.first_step + 1)
                        : fmt::format("{} to {}", range.first_step + 1, range.last_step + 1),
                    purpose_text(range)});
  return heading("Workspace", bytes_text(explanation.workspace_bytes)) +
         table_text("   ", rows, {true, true, false, false});
}

std::string plans_text(const Explanation& explanation) {
  if (explanation.plans.empty()) return "";
  std::vector<std::vector<std::string>> rows{
      {"", "#", "predicted", "measured", "workspace", "plan"}};
  for (size_t index = 0; index < explanation.plans.size(); ++index) {
    const graph::PlanInfo& plan = explanation.plans[index];
    std::string name = plan.name;
    if (!plan.barred.empty()) name += " [barred: " + plan.barred + "]";
    rows.push_back({static_cast<int64_t>(index) == explanation.plan ? ">" : "",
                    std::to_string(index), time_text(plan.predicted_microseconds),
                    time_text(plan.measured_microseconds), bytes_text(plan.workspace_bytes), name});
  }
  return heading("All plans, best first") +
         table_text("   ", rows, {false, true, true, true, true, false});
}

}  // namespace

std::string explain_text(const Explanation& explanation) {
  return title_text(explanation) + summary_text(explanation) + groups_text(explanation) +
         stops_text(explanation) + views_text(explanation) + workspace_text(explanation) +
         plans_text(explanation);
}

}  // namespace warploom
