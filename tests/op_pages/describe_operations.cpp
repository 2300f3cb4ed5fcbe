// describe_operations: reads {tag: the JSON of a graph with one such operation, FLOAT where it says
// nothing} from standard input, and writes what the operations that run declare, in the order of
// their declaration, with the data types that validate() accepts for each tensor of the graph by
// itself.
#include <cxxabi.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <typeinfo>

#include <warploom/graph.h>

#include "ops/families.h"
#include "ops/reflection.h"
#include "serialize/json_encoding.h"

namespace warploom {
namespace {

using serialize::Json;

constexpr DataType_t kTypes[] = {DataType_t::FLOAT,    DataType_t::HALF,     DataType_t::BFLOAT16,
                                 DataType_t::DOUBLE,   DataType_t::INT8,     DataType_t::UINT8,
                                 DataType_t::INT32,    DataType_t::INT64,    DataType_t::BOOLEAN,
                                 DataType_t::FP8_E4M3, DataType_t::FP8_E5M2, DataType_t::FP8_E8M0,
                                 DataType_t::FP4_E2M1, DataType_t::INT4};

template <class T>
std::string type_text(const T&) {
  if constexpr (std::is_same_v<T, bool>) return "boolean";
  if constexpr (std::is_floating_point_v<T>) return "number";
  if constexpr (std::is_integral_v<T>) return "integer";
  if constexpr (!std::is_enum_v<T>) return "text";
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr), &std::free);
  const std::string text = name.get();
  return text.substr(text.rfind(':') + 1);
}
template <class T>
std::string type_text(const std::optional<T>&) {
  return type_text(T{});
}
template <class T>
std::string type_text(const std::vector<T>&) {
  return std::is_same_v<T, int64_t> ? "list of integers" : "list of pairs of integers";
}

bool is_valid(const Json& graph) {
  graph::Graph read;
  return read.from_json(graph.dump()).is_good() && read.validate().is_good();
}

using Places = std::vector<Json::json_pointer>;

// Types that can be put in all of these places of the graph, the rest left as it is.
Json accepted_types(Json graph, const Places& places) {
  Json accepted = Json::array();
  for (DataType_t type : kTypes) {
    for (const Json::json_pointer& place : places) graph[place] = to_string(type);
    if (is_valid(graph)) accepted.push_back(to_string(type));
  }
  return accepted;
}

// `used` collects where the graph has the data types of tensors at these ports.
Json describe_ports(std::span<const graph::Port> ports, const Json& graph, const Json& keys,
                    Places& used) {
  Json described = Json::array();
  for (const graph::Port& port : ports) {
    const std::string name(port.name);
    Json& entry = described.emplace_back(Json{{"name", name}, {"is_optional", port.is_optional}});
    if (!keys.contains(name)) continue;
    used.push_back(Json::json_pointer("/tensors") / keys[name].get<std::string>() / "data_type");
    entry["data_types"] = accepted_types(graph, {used.back()});
  }
  return described;
}

Json describe_fields(const graph::Operation& operation) {
  Json described = Json::array();
  ops::for_each_field(operation, [&](std::string_view name, const auto& value, bool is_required) {
    described.push_back({{"name", name},
                         {"type", type_text(value)},
                         {"default", serialize::encode(value)},
                         {"is_required", is_required}});
  });
  return described;
}

// The first node of the graph that is such an operation.
Json::json_pointer find_node(const Json& graph, std::string_view tag) {
  for (size_t i = 0; i < graph["nodes"].size(); ++i)
    if (graph["nodes"][i]["tag"] == tag) return Json::json_pointer("/nodes") / i;
  return Json::json_pointer();
}

Json describe(const graph::Operation& operation, const Json& graph) {
  Json described{{"tag", ops::tag(operation)}, {"fields", describe_fields(operation)}};
  if (!graph.is_object() || !is_valid(graph)) return described;
  const Json::json_pointer place = find_node(graph, ops::tag(operation));
  const Json& node = graph[place];
  Places used;
  for (const auto& [kind, ports] : {std::pair{"inputs", ops::input_ports(operation)},
                                    std::pair{"outputs", ops::output_ports(operation)}})
    described[kind] = describe_ports(ports, graph, node[kind], used);
  described["common_data_types"] = accepted_types(graph, used);
  described["compute_data_types"] = accepted_types(graph, {place / "compute_data_type"});
  return described;
}

Json describe_all(const Json& graphs) {
  Json described = Json::array();
  ops::for_each_operation_type([&]<class Attributes>(std::type_identity<Attributes>) {
    if constexpr (!ops::DeclaredOnly<Attributes>)
      described.push_back(
          describe(Attributes(), graphs.value(std::string(Attributes::kTag), Json())));
  });
  return described;
}

}  // namespace
}  // namespace warploom

int main() {
  const auto graphs = warploom::serialize::Json::parse(std::cin);
  std::cout << warploom::describe_all(graphs).dump(1) << "\n";
}
