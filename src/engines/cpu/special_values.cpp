#include "engines/cpu/special_values.h"

#include <cstring>

namespace warploom::cpu {
namespace {

// All exponent bits set, so that adding the lowest of them carries into the sign. Written in pieces
// of a fixed size, which compilers vectorize.
template <class Pattern>
bool any_special(const void* values, int64_t n, Pattern exponent, Pattern lowest) {
  constexpr int64_t kPiece = 64;
  const auto* bytes = static_cast<const char*>(values);
  Pattern found = 0, patterns[kPiece];
  auto look = [&](Pattern pattern) {
    found = static_cast<Pattern>(found | ((pattern & exponent) + lowest));
  };
  int64_t i = 0;
  for (; i + kPiece <= n; i += kPiece) {
    std::memcpy(patterns, bytes + i * static_cast<int64_t>(sizeof(Pattern)), sizeof patterns);
    for (Pattern pattern : patterns) look(pattern);
  }
  for (; i < n; ++i) {
    std::memcpy(patterns, bytes + i * static_cast<int64_t>(sizeof(Pattern)), sizeof(Pattern));
    look(patterns[0]);
  }
  return static_cast<Pattern>(found & static_cast<Pattern>(exponent + lowest)) != 0;
}

}  // namespace

bool has_special_values(const void* values, DataType_t type, int64_t n) {
  switch (type) {
    case DataType_t::FLOAT:
      return any_special<uint32_t>(values, n, 0x7f800000U, 0x00800000U);
    case DataType_t::BFLOAT16:
      return any_special<uint16_t>(values, n, 0x7f80, 0x0080);
    case DataType_t::DOUBLE:
      return any_special<uint64_t>(values, n, 0x7ff0000000000000U, 0x0010000000000000U);
    default:
      return false;
  }
}

}  // namespace warploom::cpu
