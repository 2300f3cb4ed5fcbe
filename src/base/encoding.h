#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace warploom::base {

/// Values as bytes, the same in every process and build, for `Derived::add_bytes`. A number is
/// eight bytes, the lowest first; what has a length comes after it, so that neighbours cannot run
/// into each other.
template <class Derived>
class Encoding {
 public:
  Derived& add(std::string_view text) {
    add(static_cast<int64_t>(text.size()));
    derived().add_bytes(text);
    return derived();
  }
  Derived& add(const char* text) { return add(std::string_view(text)); }

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T> Derived& add(T number) {
    const auto bits = static_cast<uint64_t>(number);
    std::array<char, 8> bytes;
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bits >> (8 * i));
    derived().add_bytes({bytes.data(), bytes.size()});
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
