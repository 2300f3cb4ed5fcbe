#pragma once
/// Which seeds a fuzz test runs.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace warploom::test {

/// 0 .. count - 1, or the one that WARPLOOM_FUZZ_SEED names.
inline std::vector<uint32_t> seeds(uint32_t count) {
  if (const char* text = std::getenv("WARPLOOM_FUZZ_SEED"))
    return {static_cast<uint32_t>(std::strtoul(text, nullptr, 10))};
  std::vector<uint32_t> all(count);
  for (uint32_t seed = 0; seed < count; ++seed) all[seed] = seed;
  return all;
}

/// Draws that are the same with every standard library (its distributions are not).
class Draw {
 public:
  explicit Draw(uint32_t seed) : generator_(seed) {}
  /// Uniform in [0, count).
  int64_t below(int64_t count) { return static_cast<int64_t>(generator_() % count); }
  bool one_in(int64_t count) { return below(count) == 0; }
  template <class Container>
  const auto& from(const Container& container) {
    return container[below(static_cast<int64_t>(std::size(container)))];
  }

 private:
  std::mt19937 generator_;
};

}  // namespace warploom::test
