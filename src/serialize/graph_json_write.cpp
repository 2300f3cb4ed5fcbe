#include <unordered_map>
#include <unordered_set>

#include "ops/reflection.h"
#include "serialize/graph_json.h"
#include "serialize/json_encoding.h"

namespace warploom::serialize {
namespace {

using graph::Tensor_attributes;
using graph::TensorPtr;

/// Tensors and their keys, in the order in which they are met.
class TensorTable {
 public:
  explicit TensorTable(const graph::Description& description) {
    for (const TensorPtr& tensor : description.tensors) collect(tensor);
    for (const graph::Operation& node : description.nodes) {
      for (const TensorPtr& input : ops::inputs(node)) collect(input);
      for (const TensorPtr& output : ops::outputs(node)) collect(output);
    }
    // Uids first: a name that looks like one must not take its key.
    for (const TensorPtr& tensor : tensors_)
      if (tensor->has_uid()) claim(tensor, std::to_string(tensor->get_uid()));
    for (const TensorPtr& tensor : tensors_)
      if (!tensor->has_uid()) claim(tensor, tensor->get_name());
  }

  const std::vector<TensorPtr>& tensors() const { return tensors_; }
  const std::string& key(const TensorPtr& tensor) const { return keys_.at(tensor.get()); }

 private:
  void collect(const TensorPtr& tensor) {
    for (TensorPtr next = tensor; next && seen_.insert(next.get()).second;
         next = next->get_ragged_offset())
      tensors_.push_back(next);
  }

  void claim(const TensorPtr& tensor, const std::string& wanted) {
    std::string key = wanted;
    for (int number = 2; key.empty() || !taken_.insert(key).second; ++number)
      key = wanted + "#" + std::to_string(number);
    keys_.emplace(tensor.get(), std::move(key));
  }

  std::vector<TensorPtr> tensors_;
  std::unordered_set<const Tensor_attributes*> seen_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<const Tensor_attributes*, std::string> keys_;
};

Json write_tensor(const Tensor_attributes& tensor, const TensorTable& table) {
  Json json = {{"name", tensor.get_name()},
               {"data_type", encode(tensor.get_data_type())},
               {"dim", tensor.get_dim()},
               {"stride", tensor.get_stride()},
               {"is_virtual", tensor.get_is_virtual()},
               {"pass_by_value", encode(tensor.get_pass_by_value())},
               {"is_pass_by_value", tensor.get_is_pass_by_value()},
               {"reordering_type", encode(tensor.get_reordering_type())},
               {"uid", tensor.get_uid()},
               {"uid_assigned", tensor.has_uid()}};
  const Tensor_attributes defaults;
  if (const TensorPtr offset = tensor.get_ragged_offset()) {
    json["ragged_offset_uid"] = offset->get_uid();
    json["ragged_offset_name"] = table.key(offset);
  }
  if (tensor.get_has_compile_time_constant())
    json["compile_time_constant"] = encode(tensor.get_compile_time_constant());
  if (tensor.get_alignment() != defaults.get_alignment())
    json["alignment"] = tensor.get_alignment();
  if (tensor.get_vector_count() != defaults.get_vector_count())
    json["vector_count"] = tensor.get_vector_count();
  if (tensor.get_vector_dimension() != defaults.get_vector_dimension())
    json["vector_dimension"] = tensor.get_vector_dimension();
  return json;
}

Json write_ports(const std::vector<TensorPtr>& tensors, std::span<const graph::Port> ports,
                 const TensorTable& table) {
  Json json = Json::object();
  for (size_t port = 0; port < tensors.size() && port < ports.size(); ++port)
    if (tensors[port]) json[std::string(ports[port].name)] = table.key(tensors[port]);
  return json;
}

Json write_node(const graph::Operation& node, const TensorTable& table) {
  Json json = {{"tag", ops::tag(node)},
               {"name", ops::name(node)},
               {"compute_data_type", encode(ops::compute_data_type(node))},
               {"inputs", write_ports(ops::inputs(node), ops::input_ports(node), table)},
               {"outputs", write_ports(ops::outputs(node), ops::output_ports(node), table)}};
  ops::for_each_field(node, [&](std::string_view name, const auto& value, bool) {
    json[std::string(name)] = encode(value);
  });
  return json;
}

Json write_context(const graph::Description& description) {
  Json json = {{"name", description.name},
               {"io_data_type", encode(description.io_data_type)},
               {"intermediate_data_type", encode(description.intermediate_data_type)},
               {"compute_data_type", encode(description.compute_data_type)},
               {"sm_count", description.sm_count},
               {"is_dynamic_shape_enabled", description.is_dynamic_shape_enabled},
               {"is_override_shape_enabled", description.is_override_shape_enabled}};
  if (description.sm_version != graph::Description().sm_version)
    json["sm_version"] = description.sm_version;
  return json;
}

// Names may be any bytes; what is no UTF-8 is replaced.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const Tensor_attributes& tensor) {
  graph::Description description;
  description.tensors = {std::make_shared<Tensor_attributes>(tensor)};
  return dump(write_tensor(tensor, TensorTable(description)));
}

std::string to_json(const graph::Operation& operation) {
  graph::Description description;
  description.nodes = {operation};
  return dump(write_node(operation, TensorTable(description)));
}

std::string to_json(const graph::Description& description) {
  const TensorTable table(description);
  Json json = {{"context", write_context(description)},
               {"json_version", "1.0"},
               {"nodes", Json::array()},
               {"tensors", Json::object()}};
  for (const graph::Operation& node : description.nodes)
    json["nodes"].push_back(write_node(node, table));
  for (const TensorPtr& tensor : table.tensors())
    json["tensors"][table.key(tensor)] = write_tensor(*tensor, table);
  return dump(json);
}

}  // namespace warploom::serialize
