#pragma once
// What the programs check with. A check that fails ends the program with status 1.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define REQUIRE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

#define REQUIRE_GOOD(call)                                               \
  do {                                                                   \
    auto require_status = (call);                                        \
    if (require_status.is_bad()) {                                       \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   require_status.get_message().c_str());                \
      std::exit(1);                                                      \
    }                                                                    \
  } while (false)

/// Numbers between -1 and 1 that are the same on every machine.
template <class T>
std::vector<T> numbers(size_t count, uint32_t seed) {
  std::vector<T> values(count);
  uint32_t state = seed * 2654435761u + 1;
  for (T& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<T>(static_cast<float>(state >> 8) / 8388608.0f - 1.0f);
  }
  return values;
}

inline bool is_near(double found, double expected, double tolerance) {
  return std::abs(found - expected) <= tolerance * (1.0 + std::abs(expected));
}
