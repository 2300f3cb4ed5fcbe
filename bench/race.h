#pragma once
// Programs that do the same work, checked against each other and timed by turns.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// Floats on a page of their own.
class Buffer {
 public:
  explicit Buffer(size_t size)
      : size_(size),
        memory_(static_cast<float*>(std::aligned_alloc(4096, (size * 4 + 4096) / 4096 * 4096))) {
    std::fill(memory_, memory_ + size, 0.0F);
  }
  ~Buffer() { std::free(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  float* data() { return memory_; }
  const float* data() const { return memory_; }
  size_t size() const { return size_; }

  /// Reproducible values within +-`range`.
  void fill(unsigned seed, float range) {
    for (size_t i = 0; i < size_; ++i) {
      seed = seed * 1664525U + 1013904223U;
      memory_[i] = static_cast<float>(static_cast<int>(seed >> 16) % 2001 - 1000) * 1e-3F * range;
    }
  }

 private:
  size_t size_;
  float* memory_;
};

struct Runner {
  std::string name;
  std::function<void()> run;
  const Buffer* result = nullptr;
};

/// Runs all by turns for `seconds`, and prints median and best of each and their ratio to the first
/// (more than 1: faster than it). False, with a line that says so, when results differ.
inline bool race(const std::string& title, double flops, const std::vector<Runner>& runners,
                 double seconds, double tolerance = 1e-4) {
  using Clock = std::chrono::steady_clock;
  std::printf("%s\n", title.c_str());
  bool agree = true;
  for (const Runner& runner : runners) {
    runner.run();
    double largest = 0, difference = 0;
    const Buffer& reference = *runners.front().result;
    for (size_t i = 0; i < reference.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(reference.data()[i])));
      const double d =
          std::abs(static_cast<double>(reference.data()[i]) - runner.result->data()[i]);
      if (!(d <= difference)) difference = d;  // NaN too
    }
    if (!(difference <= tolerance * largest)) {
      std::printf("  %s differs from %s by %g of %g\n", runner.name.c_str(),
                  runners.front().name.c_str(), difference, largest);
      agree = false;
    }
  }
  std::vector<std::vector<double>> times(runners.size());
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end || times[0].size() < 5)
    for (size_t i = 0; i < runners.size(); ++i) {
      const auto start = Clock::now();
      runners[i].run();
      times[i].push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  double median = 0, best = 0;
  for (size_t i = 0; i < runners.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    const double own_median = times[i][times[i].size() / 2], own_best = times[i].front();
    if (i == 0) median = own_median, best = own_best;
    std::printf("  %-36s median %9.3f ms  best %9.3f ms %7.1f GFLOP/s  ratio %5.2f (best %5.2f)\n",
                runners[i].name.c_str(), own_median * 1e3, own_best * 1e3, flops / own_best * 1e-9,
                median / own_median, best / own_best);
  }
  return agree;
}

}  // namespace bench
