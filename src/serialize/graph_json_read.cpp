#include <unordered_map>
#include <unordered_set>

#include "ops/reflection.h"
#include "serialize/graph_json.h"
#include "serialize/json_reader.h"

namespace warploom::serialize {
namespace {

using graph::Tensor_attributes;
using graph::TensorPtr;
using TensorsByKey = std::unordered_map<std::string, TensorPtr>;

error_t read_context(const Json& json, graph::Description& description) {
  ObjectReader context(json, "/context");
  context.read("name", description.name);
  context.read("io_data_type", description.io_data_type);
  context.read("intermediate_data_type", description.intermediate_data_type);
  context.read("compute_data_type", description.compute_data_type);
  context.read("sm_count", description.sm_count);
  context.read("sm_version", description.sm_version);
  context.read("is_dynamic_shape_enabled", description.is_dynamic_shape_enabled);
  context.read("is_override_shape_enabled", description.is_override_shape_enabled);
  return context.finish();
}

/// The scalar kinds of a tensor, and whether they fit together, as the setters would have them.
error_t read_scalar(ObjectReader& reader, Tensor_attributes& tensor) {
  std::optional<pass_by_values_t> stored, constant;
  reader.read("pass_by_value", stored);
  reader.read("compile_time_constant", constant);
  bool is_pass_by_value = stored || constant;
  reader.read("is_pass_by_value", is_pass_by_value);
  if (stored && constant)
    reader.fail("pass_by_value", "a tensor that has a compile_time_constant stores no other value");
  if (reader.error().is_bad()) return reader.error();
  if (constant) {
    tensor = Tensor_attributes(*constant, graph::ScalarType::COMPILE_TIME_CONST);
  } else if (stored) {
    tensor = Tensor_attributes(*stored, graph::ScalarType::RUNTIME_PARAM);
  }
  if (constant || stored) tensor.set_dim({}).set_stride({}).set_data_type(DataType_t::NOT_SET);
  tensor.set_is_pass_by_value(is_pass_by_value);
  return {};
}

error_t read_tensor(const Json& json, const std::string& path, Tensor_attributes& tensor) {
  ObjectReader reader(json, path);
  CHECK_WARPLOOM_ERROR(read_scalar(reader, tensor));
  std::string name;
  DataType_t data_type = DataType_t::NOT_SET;
  std::vector<int64_t> dim, stride;
  bool is_virtual = false, is_uid_assigned = false;
  TensorReordering_t reordering = TensorReordering_t::NONE;
  int64_t uid = 0, alignment = tensor.get_alignment(), vector_count = tensor.get_vector_count(),
          vector_dimension = tensor.get_vector_dimension();
  reader.read("name", name);
  reader.read("data_type", data_type);
  reader.read("dim", dim);
  reader.read("stride", stride);
  reader.read("is_virtual", is_virtual);
  reader.read("reordering_type", reordering);
  reader.read("uid", uid);
  reader.read("uid_assigned", is_uid_assigned);
  reader.read("alignment", alignment);
  reader.read("vector_count", vector_count);
  reader.read("vector_dimension", vector_dimension);
  // Resolved once all tensors are there.
  reader.ignore("ragged_offset_uid");
  reader.ignore("ragged_offset_name");
  tensor.set_name(name)
      .set_data_type(data_type)
      .set_dim(dim)
      .set_stride(stride)
      .set_is_virtual(is_virtual)
      .set_reordering_type(reordering)
      .set_alignment(alignment)
      .set_vector_count_and_dimension(vector_count, vector_dimension);
  if (is_uid_assigned) tensor.set_uid(uid);
  return reader.finish();
}

std::string known_tags() {
  std::string tags;
  ops::for_each_operation_type([&]<class Attributes>(std::type_identity<Attributes>) {
    tags += (tags.empty() ? "" : ", ") + std::string(Attributes::kTag);
  });
  return tags;
}

/// A reference is the key, or the uid as a number.
Result<TensorPtr> find_tensor(const Json& reference, const std::string& path,
                              const TensorsByKey& tensors) {
  const std::string key = reference.is_string() ? reference.get<std::string>() : reference.dump();
  const auto found = tensors.find(key);
  if (found == tensors.end())
    return format_error(path, fmt::format("\"{}\" is no key of \"tensors\"", key));
  return found->second;
}

error_t read_ragged_offsets(const Json& json, const TensorsByKey& tensors) {
  for (const auto& [key, tensor] : tensors) {
    const Json& fields = json.at(key);
    const std::string path = "/tensors/" + key + "/ragged_offset_name";
    const bool has_name = fields.contains("ragged_offset_name");
    if (!has_name && !fields.contains("ragged_offset_uid")) continue;
    // A file of the compatible format has the uid as key where there is one, else the name.
    auto offset = find_tensor(fields.value("ragged_offset_uid", Json()), path, tensors);
    if (has_name) {
      auto named = find_tensor(fields.at("ragged_offset_name"), path, tensors);
      if (named.is_good() || offset.is_bad()) offset = std::move(named);
    }
    CHECK_WARPLOOM_ERROR(offset.error());
    for (TensorPtr next = offset.value(); next; next = next->get_ragged_offset())
      if (next == tensor) return format_error(path, "a tensor is its own ragged offset");
    tensor->set_ragged_offset(offset.value());
  }
  return {};
}

error_t read_ports(ObjectReader& node, std::string_view name, std::span<const graph::Port> ports,
                   const TensorsByKey& tensors, std::vector<TensorPtr>& values) {
  const Json* const json = node.find(name);
  if (!json) return {};
  ObjectReader reader(*json, node.path_of(name));
  for (size_t port = 0; port < ports.size(); ++port)
    if (const Json* reference = reader.find(ports[port].name); reference && !reference->is_null()) {
      auto tensor = find_tensor(*reference, reader.path_of(ports[port].name), tensors);
      CHECK_WARPLOOM_ERROR(tensor.error());
      values[port] = std::move(tensor).value();
    }
  return reader.finish();
}

error_t read_node(const Json& json, const std::string& path, const TensorsByKey& tensors,
                  graph::Description& description) {
  ObjectReader reader(json, path);
  std::string tag, name;
  DataType_t compute_data_type = DataType_t::NOT_SET;
  reader.read("tag", tag);
  reader.read("name", name);
  reader.read("compute_data_type", compute_data_type);
  CHECK_WARPLOOM_ERROR(reader.error());
  auto operation = ops::make_operation(tag);
  if (!operation) {
    reader.fail("tag", fmt::format("found \"{}\", accepted {}", tag, known_tags()));
    return reader.error();
  }
  ops::set_name(*operation, name);
  ops::set_compute_data_type(*operation, compute_data_type);
  ops::resize_ports(*operation);
  ops::for_each_field(
      *operation, [&](std::string_view field, auto& value, bool) { reader.read(field, value); });
  CHECK_WARPLOOM_ERROR(
      read_ports(reader, "inputs", ops::input_ports(*operation), tensors, ops::inputs(*operation)));
  CHECK_WARPLOOM_ERROR(read_ports(reader, "outputs", ops::output_ports(*operation), tensors,
                                  ops::outputs(*operation)));
  description.nodes.push_back(*std::move(operation));
  return reader.finish();
}

error_t read_tensors(const Json& json, TensorsByKey& tensors, graph::Description& description) {
  ObjectReader reader(json, "/tensors");
  CHECK_WARPLOOM_ERROR(reader.error());
  for (const auto& [key, value] : json.items()) {
    auto tensor = std::make_shared<Tensor_attributes>();
    CHECK_WARPLOOM_ERROR(read_tensor(value, "/tensors/" + key, *tensor));
    tensors.emplace(key, tensor);
    description.tensors.push_back(std::move(tensor));
  }
  return read_ragged_offsets(json, tensors);
}

/// Results of nodes were not made by Graph::tensor().
void keep_inputs_only(graph::Description& description) {
  std::unordered_set<TensorPtr> results;
  for (const graph::Operation& node : description.nodes)
    results.insert(ops::outputs(node).begin(), ops::outputs(node).end());
  std::erase_if(description.tensors,
                [&](const TensorPtr& tensor) { return results.contains(tensor); });
}

}  // namespace

Result<graph::Description> from_json(const std::string& text) {
  const auto parsed = parse_json(text);
  CHECK_WARPLOOM_ERROR(parsed.error());
  ObjectReader reader(parsed.value(), "");
  std::string version = "1.0";
  reader.read("json_version", version);
  if (version != "1.0")
    reader.fail("json_version", fmt::format("found \"{}\", accepted \"1.0\"", version));
  // The programs that wrote the file.
  reader.ignore("cudnn_backend_version");
  reader.ignore("cudnn_frontend_version");

  graph::Description description;
  TensorsByKey tensors;
  const Json* const context = reader.find("context");
  const Json* const tensor_table = reader.find("tensors");
  const Json* const nodes = reader.find("nodes");
  CHECK_WARPLOOM_ERROR(reader.finish());
  if (context) CHECK_WARPLOOM_ERROR(read_context(*context, description));
  if (tensor_table) CHECK_WARPLOOM_ERROR(read_tensors(*tensor_table, tensors, description));
  if (!nodes) return format_error("/nodes", "is missing");
  if (!nodes->is_array()) return format_error("/nodes", "found no list, accepted a list");
  for (size_t index = 0; index < nodes->size(); ++index)
    CHECK_WARPLOOM_ERROR(
        read_node((*nodes)[index], fmt::format("/nodes/{}", index), tensors, description));
  keep_inputs_only(description);
  return description;
}

}  // namespace warploom::serialize
