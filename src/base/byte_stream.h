#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace warploom::base {

/// Writes what ByteReader reads: numbers of eight bytes, the lowest first; texts after their
/// length.
class ByteWriter {
 public:
  ByteWriter& add(uint64_t number) {
    for (int byte = 0; byte < 8; ++byte)
      bytes_.push_back(static_cast<std::byte>(number >> (8 * byte)));
    return *this;
  }
  ByteWriter& add(int64_t number) { return add(static_cast<uint64_t>(number)); }
  ByteWriter& add(double number) { return add(std::bit_cast<uint64_t>(number)); }
  ByteWriter& add(std::span<const std::byte> bytes) {
    add(uint64_t{bytes.size()});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  ByteWriter& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads bytes that anybody may have written. Past the end, and ever after, everything is 0 or
/// empty and the reader is bad: one look at the end of a record is enough. Views point into the
/// bytes.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool is_good() const { return is_good_; }
  std::span<const std::byte> rest() const { return rest_; }

  uint64_t number() {
    uint64_t number = 0;
    const auto bytes = take(8);
    for (size_t i = 0; i < bytes.size(); ++i)
      number |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
    return number;
  }
  int64_t signed_number() { return static_cast<int64_t>(number()); }
  double real() { return std::bit_cast<double>(number()); }
  std::span<const std::byte> bytes() { return take(number()); }
  std::string_view text() {
    const auto text = bytes();
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

 private:
  std::span<const std::byte> take(uint64_t count) {
    is_good_ = is_good_ && count <= rest_.size();
    if (!is_good_) return {};
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  std::span<const std::byte> rest_;
  bool is_good_ = true;
};

}  // namespace warploom::base
