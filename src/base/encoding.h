#pragma once
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace warploom::base {

/// Values as bytes, the same in every process and build, for `Derived::add_byte`. Every value is
/// preceded by its length where it has one, so that neighbours cannot run into each other.
template <class Derived>
class Encoding {
 public:
  Derived& add(std::string_view text) {
    add(static_cast<int64_t>(text.size()));
    for (char character : text) derived().add_byte(static_cast<uint8_t>(character));
    return derived();
  }
  Derived& add(const char* text) { return add(std::string_view(text)); }

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T> Derived& add(T number) {
    auto bits = static_cast<uint64_t>(number);
    for (int byte = 0; byte < 8; ++byte)
      derived().add_byte(static_cast<uint8_t>(bits >> (8 * byte)));
    return derived();
  }
  Derived& add(float number) { return add(std::bit_cast<uint32_t>(number)); }
  Derived& add(double number) { return add(std::bit_cast<uint64_t>(number)); }

  template <class T>
  Derived& add(const std::optional<T>& value) {
    add(value.has_value());
    return value ? add(*value) : derived();
  }
  template <class A, class B>
  Derived& add(const std::pair<A, B>& pair) {
    return add(pair.first).add(pair.second);
  }
  template <class T>
  Derived& add(const std::vector<T>& values) {
    add(static_cast<int64_t>(values.size()));
    for (const T& value : values) add(value);
    return derived();
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }
};

}  // namespace warploom::base
