#include <array>

#include <warploom/types.h>

namespace warploom {
namespace {

template <class Enum, size_t N>
std::string_view name_of(Enum value, const std::array<std::string_view, N>& names) {
  auto index = static_cast<size_t>(value);
  return index < N ? names[index] : "?";
}

template <class Enum, size_t N>
bool parse(std::string_view text, const std::array<std::string_view, N>& names, Enum& value) {
  for (size_t index = 0; index < N; ++index) {
    if (names[index] != text) continue;
    value = static_cast<Enum>(index);
    return true;
  }
  return false;
}

}  // namespace

#define WARPLOOM_ENUM_NAME(name) std::string_view(#name),
#define WARPLOOM_DEFINE_ENUM_NAMES(type, list)                          \
  static constexpr std::array k##type##Names{list(WARPLOOM_ENUM_NAME)}; \
  std::string_view to_string(type value) {                              \
    return name_of(value, k##type##Names);                              \
  }                                                                     \
  bool from_string(std::string_view text, type& value) {                \
    return parse(text, k##type##Names, value);                          \
  }
WARPLOOM_ENUMS(WARPLOOM_DEFINE_ENUM_NAMES)

}  // namespace warploom
