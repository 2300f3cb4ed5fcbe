#pragma once
#include <cstddef>
#include <span>

#include "base/encoding.h"

namespace warploom::base {

/// FNV-1a over 64 bits: the same in every process and build.
class Hash : public Encoding<Hash> {
 public:
  uint64_t value() const { return state_; }
  void add_bytes(std::string_view bytes) {
    for (char byte : bytes) state_ = (state_ ^ static_cast<uint8_t>(byte)) * 0x100000001b3u;
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325u;
};

/// That of files: their hash as a text.
inline uint64_t checksum(std::span<const std::byte> bytes) {
  return Hash()
      .add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()))
      .value();
}

}  // namespace warploom::base
