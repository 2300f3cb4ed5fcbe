#include "engine/refusal_text.h"

#include <fmt/format.h>

namespace warploom::engine {
namespace {

// The ids come from an engine, perhaps a user's: they are not taken on trust.
template <class Row>
bool is_index(int32_t id, const std::vector<Row>& rows) {
  return id >= 0 && static_cast<size_t>(id) < rows.size();
}

}  // namespace

std::string refusal_text(const std::string& engine, const Refusal& refusal,
                         const ir::FrozenGraph& graph) {
  std::string place, values;
  auto append = [](std::string& text, std::string part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (is_index(refusal.node, graph.nodes))
    append(place, fmt::format("node \"{}\"", graph.node(refusal.node).name));
  if (is_index(refusal.tensor, graph.tensors))
    append(place, fmt::format("tensor \"{}\"", graph.tensor(refusal.tensor).name));
  if (!refusal.found.empty()) append(values, "found " + refusal.found);
  if (!refusal.accepted.empty()) append(values, "accepted " + refusal.accepted);

  std::string text = fmt::format("{}: {}", engine, refusal.rule);
  if (place.empty() && values.empty()) return text;
  const char* const colon = place.empty() || values.empty() ? "" : ": ";
  return text + " (" + place + colon + values + ")";
}

}  // namespace warploom::engine
