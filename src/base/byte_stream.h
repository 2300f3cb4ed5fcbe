#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"

namespace warploom::base {

/// Writes what ByteReader reads.
class ByteWriter : public Encoding<ByteWriter> {
 public:
  using Encoding::add;
  ByteWriter& add(std::span<const std::byte> bytes) {
    add(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  ByteWriter& add(const std::vector<std::byte>& bytes) { return add(std::span(bytes)); }

  void add_bytes(std::string_view bytes) {
    const auto view = std::as_bytes(std::span(bytes));
    bytes_.insert(bytes_.end(), view.begin(), view.end());
  }
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
