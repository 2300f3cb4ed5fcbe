#include "harness/reload.h"

#include <algorithm>
#include <bit>
#include <sstream>

namespace warploom::test {
namespace {

template <class T>
void compare_facts(std::ostringstream& text, const char* what, const T& got, const T& expected) {
  if (!(got == expected)) text << what << " is another; ";
}

}  // namespace

std::string bit_difference(const ValuesByUid& got, const ValuesByUid& expected) {
  if (got.size() != expected.size()) return "another number of outputs";
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  for (const auto& [uid, values] : expected)
    if (!got.contains(uid) || !std::ranges::equal(got.at(uid), values, {}, bits, bits))
      return "output " + std::to_string(uid) + " differs";
  return "";
}

std::string difference_after_reload(graph::Graph& graph, int64_t index, const ValuesByUid& inputs,
                                    const std::vector<int64_t>& outputs) {
  std::ostringstream text;
  if (const error_t error = graph.build_plan_at_index(cpu(), index); error.is_bad())
    text << error << "; ";
  std::vector<uint8_t> data;
  if (const error_t error = graph.serialize(data); error.is_bad()) text << error << "; ";
  graph::Graph loaded;
  if (const error_t error = loaded.deserialize(cpu(), data); error.is_bad()) text << error << "; ";
  if (const auto count = loaded.get_execution_plan_count(); count != 1)
    text << count << " plans are listed";
  if (!text.str().empty()) return text.str();

  const auto before = graph.plans()[static_cast<size_t>(index)], after = loaded.plans()[0];
  compare_facts(text, "the name", after.name, before.name);
  compare_facts(text, "the workspace", after.workspace_bytes, before.workspace_bytes);
  compare_facts(text, "the workspace", loaded.get_workspace_size(), graph.get_workspace_size());
  compare_facts(text, "the prediction", after.predicted_microseconds,
                before.predicted_microseconds);
  compare_facts(text, "a numerical note", after.numerical_notes, before.numerical_notes);
  compare_facts(text, "a behavior note", after.behavior_notes, before.behavior_notes);
  compare_facts(text, "a group", after.groups, before.groups);
  compare_facts(text, "the graph", loaded.to_json(), graph.to_json());
  compare_facts(text, "the key", loaded.key(), graph.key());

  const PlanRun expected = run_plan(graph, cpu(), index, inputs, outputs);
  const PlanRun got = run_plan(loaded, cpu(), 0, inputs, outputs);
  if (expected.error.is_bad()) text << expected.error << "; ";
  if (got.error.is_bad()) text << got.error << "; ";
  return text.str() + got.damage + bit_difference(got.outputs, expected.outputs);
}

}  // namespace warploom::test
