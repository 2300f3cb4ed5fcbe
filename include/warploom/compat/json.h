#pragma once
/// Graphs, tensors, attributes, enumerations and error codes as nlohmann's JSON.
#include <string>

#include <warploom/graph.h>
#include <nlohmann/json.hpp>

using json = nlohmann::json;

// nlohmann's library finds to_json and from_json in the namespace of the type.
namespace warploom {

// NOT_SET is null.
#define WARPLOOM_ENUM_JSON(type, list)                                                   \
  inline void to_json(json& value, type member) {                                        \
    const std::string name(to_string(member));                                           \
    value = name == "NOT_SET" ? json() : json(name);                                     \
  }                                                                                      \
  inline void from_json(const json& value, type& member) {                               \
    (void)from_string(value.is_string() ? value.get<std::string>() : "NOT_SET", member); \
  }
WARPLOOM_ENUMS(WARPLOOM_ENUM_JSON)
#undef WARPLOOM_ENUM_JSON

inline void to_json(json& value, error_code_t code) {
  value = std::string(to_string(code));
}

namespace graph {

inline void to_json(json& value, const Graph& graph) {
  graph.serialize(value);
}

inline void to_json(json& value, const Tensor_attributes& tensor) {
  value = json::parse(print(tensor));
}

/// With its fields; tensors by name or uid, as in the JSON of a graph.
template <class Derived>
void to_json(json& value, const Attributes<Derived>& attributes) {
  value = json::parse(print(Operation(static_cast<const Derived&>(attributes))));
}

}  // namespace graph
}  // namespace warploom
