#include "fusion/field_texts.h"

#include <optional>

#include <fmt/format.h>

#include "ops/reflection.h"

namespace warploom::fusion {

namespace {

template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return std::string(to_string(value));
  else
    return fmt::format("{}", value);
}
template <class T>
std::string value_text(const std::optional<T>& value) {
  return value ? value_text(*value) : "-";
}
template <class T, class U>
std::string value_text(const std::pair<T, U>& value) {
  return value_text(value.first) + ':' + value_text(value.second);
}
template <class T>
std::string value_text(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + value_text(value);
  return '[' + text + ']';
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> field_texts(
    const graph::Operation& operation) {
  std::vector<std::pair<std::string_view, std::string>> texts;
  ops::for_each_field(operation, [&](std::string_view name, const auto& value, bool) {
    texts.emplace_back(name, value_text(value));
  });
  return texts;
}

}  // namespace warploom::fusion
