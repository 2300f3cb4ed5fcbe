#pragma once
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace warploom::base {

/// FNV-1a over 64 bits: the same in every process and build. Every value is preceded by its length
/// where it has one, so that neighbours cannot run into each other.
class Hash {
 public:
  uint64_t value() const { return state_; }

  Hash& add(std::string_view text) {
    add(static_cast<int64_t>(text.size()));
    for (char character : text) add_byte(static_cast<uint8_t>(character));
    return *this;
  }
  Hash& add(const char* text) { return add(std::string_view(text)); }

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T> Hash& add(T number) {
    auto bits = static_cast<uint64_t>(number);
    for (int byte = 0; byte < 8; ++byte) add_byte(static_cast<uint8_t>(bits >> (8 * byte)));
    return *this;
  }
  Hash& add(float number) { return add(std::bit_cast<uint32_t>(number)); }
  Hash& add(double number) { return add(std::bit_cast<uint64_t>(number)); }

  template <class T>
  Hash& add(const std::optional<T>& value) {
    add(value.has_value());
    return value ? add(*value) : *this;
  }
  template <class A, class B>
  Hash& add(const std::pair<A, B>& pair) {
    return add(pair.first).add(pair.second);
  }
  template <class T>
  Hash& add(const std::vector<T>& values) {
    add(static_cast<int64_t>(values.size()));
    for (const T& value : values) add(value);
    return *this;
  }

 private:
  void add_byte(uint8_t byte) { state_ = (state_ ^ byte) * 0x100000001b3u; }

  uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace warploom::base
