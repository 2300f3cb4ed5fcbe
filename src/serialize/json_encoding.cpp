#include "serialize/json_encoding.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace warploom::serialize {
namespace {

template <class Bits>
bool parse_bits(const Json& json, Bits& bits) {
  if (!json.is_string()) return false;
  const auto& text = json.get_ref<const std::string&>();
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, bits, 16);
  return text.size() == 2 * sizeof(Bits) && parsed.ec == std::errc() && parsed.ptr == end;
}

/// Reads the alternative that is at `index` in the variant.
template <size_t Index = 0>
Complaint decode_alternative(const Json& json, size_t index, pass_by_values_t& value) {
  if constexpr (Index == std::variant_size_v<pass_by_values_t>) {
    return "an \"index\" from 0 to 5";
  } else {
    if (index != Index) return decode_alternative<Index + 1>(json, index, value);
    using T = std::variant_alternative_t<Index, pass_by_values_t>;
    using Stored = std::conditional_t<std::is_class_v<T>, float, T>;
    Stored stored{};
    const Complaint complaint = decode(json, stored);
    value.emplace<Index>(stored);
    return complaint;
  }
}

}  // namespace

Json encode(float value) {
  return fmt::format("{:08X}", std::bit_cast<uint32_t>(value));
}

Json encode(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{:016X}", std::bit_cast<uint64_t>(value));
}

Json encode(const pass_by_values_t& value) {
  const Json stored = std::visit(
      []<class T>(const T& scalar) {
        if constexpr (std::is_class_v<T>)
          return encode(static_cast<float>(scalar));
        else
          return encode(scalar);
      },
      value);
  return {{"index", value.index()}, {"value", stored}};
}

Complaint decode(const Json& json, bool& value) {
  if (!json.is_boolean()) return "true or false";
  value = json.get<bool>();
  return nullptr;
}

Complaint decode(const Json& json, int64_t& value) {
  constexpr Complaint kAccepted = "an integer of 64 bits";
  // Above INT64_MAX numbers are kept as unsigned, and above that as floating point.
  if (!json.is_number_integer()) return kAccepted;
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}) return kAccepted;
  value = json.get<int64_t>();
  return nullptr;
}

Complaint decode(const Json& json, int32_t& value) {
  int64_t wide = 0;
  if (decode(json, wide) || !std::in_range<int32_t>(wide)) return "an integer of 32 bits";
  value = static_cast<int32_t>(wide);
  return nullptr;
}

Complaint decode(const Json& json, float& value) {
  uint32_t bits = 0;
  if (parse_bits(json, bits)) {
    value = std::bit_cast<float>(bits);
    return nullptr;
  }
  const double wide = json.is_number() ? json.get<double>() : std::nan("");
  if (!(std::abs(wide) <= std::numeric_limits<float>::max()))
    return "8 hexadecimal digits (the bits of a float) or a number in its range";
  value = static_cast<float>(wide);
  return nullptr;
}

Complaint decode(const Json& json, double& value) {
  uint64_t bits = 0;
  if (parse_bits(json, bits))
    value = std::bit_cast<double>(bits);
  else if (json.is_number())
    value = json.get<double>();
  else
    return "a number, or 16 hexadecimal digits (the bits of a double)";
  return nullptr;
}

Complaint decode(const Json& json, std::string& value) {
  if (!json.is_string()) return "a string";
  value = json.get<std::string>();
  return nullptr;
}

Complaint decode(const Json& json, std::vector<int64_t>& value) {
  constexpr Complaint kAccepted = "a list of integers of 64 bits";
  if (!json.is_array()) return kAccepted;
  value.clear();
  for (const Json& element : json)
    if (decode(element, value.emplace_back())) return kAccepted;
  return nullptr;
}

Complaint decode(const Json& json, std::vector<std::pair<int64_t, int64_t>>& value) {
  constexpr Complaint kAccepted = "a list of pairs of integers";
  if (!json.is_array()) return kAccepted;
  value.clear();
  for (const Json& element : json) {
    auto& [first, second] = value.emplace_back();
    if (!element.is_array() || element.size() != 2 || decode(element[0], first) ||
        decode(element[1], second))
      return kAccepted;
  }
  return nullptr;
}

Complaint decode(const Json& json, pass_by_values_t& value) {
  int64_t index = 0;
  if (!json.is_object() || json.size() != 2 || !json.contains("index") || !json.contains("value") ||
      decode(json["index"], index) || index < 0)
    return "{\"index\": of the alternative, 0 to 5, \"value\": ...}";
  return decode_alternative(json["value"], static_cast<size_t>(index), value);
}

}  // namespace warploom::serialize
