#pragma once
#include <array>
#include <cstdint>

// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (2011): words that depend on a counter and a key alone.

namespace warploom::ops {

using PhiloxBlock = std::array<uint32_t, 4>;

constexpr PhiloxBlock philox(PhiloxBlock counter, uint32_t key_low, uint32_t key_high) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * counter[0];
    const uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key_low, static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key_high, static_cast<uint32_t>(first)};
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
  return counter;
}

/// The four random words of the elements 4 block to 4 block + 3 of a tensor.
constexpr PhiloxBlock random_words(uint64_t seed, uint64_t offset, uint64_t block) {
  return philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                 static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)},
                static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

/// The random word of an element, given its index in row-major order of the dims.
constexpr uint32_t random_word(uint64_t seed, uint64_t offset, uint64_t element) {
  return random_words(seed, offset, element / 4)[element % 4];
}

/// An element is 1 (kept) where its word is less than this: the least integer not below
/// probability 2^32. Exact, since the product is.
constexpr uint64_t bernoulli_threshold(double probability) {
  const double scaled = probability * 0x1p32;
  const auto whole = static_cast<uint64_t>(scaled);
  return whole + (static_cast<double>(whole) < scaled ? 1 : 0);
}

}  // namespace warploom::ops
