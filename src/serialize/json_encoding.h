#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warploom/tensor.h>
#include <nlohmann/json.hpp>

// How each kind of value is written. decode() sets `value` or says what is accepted instead.
//
//   enumeration       the member's name; null for NOT_SET
//   optional          null or the value
//   float             the 8 hexadecimal digits of its bits; numbers are read too
//   double            a number; the 16 digits of its bits where it is not finite
//   half, bfloat16    as the float
//   stored scalar     {"index": of the alternative, "value": ...}

namespace warploom::serialize {

using Json = nlohmann::json;

Json encode(float value);
Json encode(double value);
Json encode(const pass_by_values_t& value);
inline Json encode(bool value) {
  return value;
}
inline Json encode(int64_t value) {
  return value;
}
inline Json encode(int32_t value) {
  return value;
}
inline Json encode(const std::string& value) {
  return value;
}
inline Json encode(const std::vector<int64_t>& value) {
  return value;
}
inline Json encode(const std::vector<std::pair<int64_t, int64_t>>& value) {
  return value;
}

template <class Enum>
requires std::is_enum_v<Enum> Json encode(Enum value) {
  const std::string name(to_string(value));
  return name == "NOT_SET" ? Json() : Json(name);
}

template <class T>
Json encode(const std::optional<T>& value) {
  return value ? encode(*value) : Json();
}

/// Null when `value` was set, else what would have been accepted.
using Complaint = const char*;

Complaint decode(const Json& json, bool& value);
Complaint decode(const Json& json, int64_t& value);
Complaint decode(const Json& json, int32_t& value);
Complaint decode(const Json& json, float& value);
Complaint decode(const Json& json, double& value);
Complaint decode(const Json& json, std::string& value);
Complaint decode(const Json& json, std::vector<int64_t>& value);
Complaint decode(const Json& json, std::vector<std::pair<int64_t, int64_t>>& value);
Complaint decode(const Json& json, pass_by_values_t& value);

template <class Enum>
requires std::is_enum_v<Enum> Complaint decode(const Json& json, Enum& value) {
  if (json.is_null() && from_string("NOT_SET", value)) return nullptr;
  if (json.is_string() && from_string(json.get_ref<const std::string&>(), value)) return nullptr;
  return "the name of a member of its enumeration";
}

template <class T>
Complaint decode(const Json& json, std::optional<T>& value) {
  value.reset();
  return json.is_null() ? nullptr : decode(json, value.emplace());
}

}  // namespace warploom::serialize
