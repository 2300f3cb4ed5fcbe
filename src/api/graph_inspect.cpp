// Graph: looking inside.
#include <ostream>

#include <fmt/format.h>

#include "api/drawing.h"
#include "api/explain_text.h"
#include "api/graph_state.h"
#include "graph/identity.h"
#include "ops/reflection.h"
#include "serialize/graph_json.h"

namespace warploom::graph {

plan::Explanation Graph::State::explanation() const {
  if (plans) return plans->explain(limits);
  plan::Explanation explanation;
  explanation.graph = frozen;
  if (device) explanation.device = *device;
  return explanation;
}

std::string Graph::explain() const {
  if (!state().frozen) return state().need_frozen("explain", error_code_t::INVALID_VALUE).err_msg;
  return explain_text(state().explanation());
}

std::string Graph::to_svg() const {
  const plan::Explanation explanation = state().explanation();
  std::vector<DrawnGroup> groups;
  for (const plan::Explanation::Group& group : explanation.groups)
    for (const auto& candidate : group.candidates)
      if (candidate.is_chosen) groups.push_back({&group.group, candidate.name});
  return draw_graph(explanation.graph ? *explanation.graph : ir::FrozenGraph(), groups);
}

std::string Graph::print() const {
  return to_json();
}

std::ostream& operator<<(std::ostream& stream, const Graph& graph) {
  return stream << graph.to_json();
}

std::string print(const Tensor_attributes& tensor) {
  return serialize::to_json(tensor);
}

std::string print(const Operation& operation) {
  return serialize::to_json(operation);
}

std::shared_ptr<const ir::FrozenGraph> Graph::frozen() const {
  return state().frozen;
}

size_t Graph::key() const {
  return graph::key(state().frozen ? state().identity : identity(state().description));
}

error_t Graph::query_tensor_attributes_of_uid(int64_t uid, Tensor_attributes& attributes) const {
  auto matches = [&](const TensorPtr& tensor) {
    if (!tensor || !tensor->has_uid() || tensor->get_uid() != uid) return false;
    attributes = *tensor;
    return true;
  };
  for (const Operation& node : state().description.nodes)
    for (const TensorPtr& output : ops::outputs(node))
      if (matches(output)) return {};
  for (const TensorPtr& tensor : state().description.tensors)
    if (matches(tensor)) return {};
  return {error_code_t::INVALID_VALUE, fmt::format("No tensor of this graph has uid {}", uid)};
}

error_t Graph::populate_cuda_graph(handle_t, std::unordered_map<int64_t, void*>&, void*, void*) {
  return not_supported("populate_cuda_graph");
}
error_t Graph::populate_cuda_graph(handle_t, std::unordered_map<TensorPtr, void*>&, void*, void*) {
  return not_supported("populate_cuda_graph");
}
error_t Graph::update_cuda_graph(handle_t, std::unordered_map<int64_t, void*>&, void*, void*) {
  return not_supported("update_cuda_graph");
}
error_t Graph::update_cuda_graph(handle_t, std::unordered_map<TensorPtr, void*>&, void*, void*) {
  return not_supported("update_cuda_graph");
}

}  // namespace warploom::graph
