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

/// Seconds of one run.
struct Timing {
  std::string name;
  size_t runs = 0;
  double median = 0, best = 0, lower = 0, upper = 0;  ///< lower and upper: quartiles
};

struct Race {
  std::string title;
  double flops = 0;
  bool agree = true;  ///< the results do
  std::vector<Timing> timings;
};

/// Runs all by turns for `seconds`, and prints median and best of each and their ratio to the first
/// (more than 1: faster than it), and a line for results that differ.
inline Race race(const std::string& title, double flops, const std::vector<Runner>& runners,
                 double seconds, double tolerance = 1e-4) {
  using Clock = std::chrono::steady_clock;
  std::printf("%s\n", title.c_str());
  Race result{title, flops, true, {}};
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
      result.agree = false;
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
  for (size_t i = 0; i < runners.size(); ++i) {
    std::vector<double>& own = times[i];
    std::sort(own.begin(), own.end());
    const size_t runs = own.size();
    result.timings.push_back({runners[i].name, runs, own[runs / 2], own.front(), own[runs / 4],
                              own[runs - 1 - runs / 4]});
    const Timing &first = result.timings.front(), &timing = result.timings.back();
    std::printf("  %-36s median %9.3f ms  best %9.3f ms %7.1f GFLOP/s  ratio %5.2f (best %5.2f)\n",
                timing.name.c_str(), timing.median * 1e3, timing.best * 1e3,
                flops / timing.best * 1e-9, first.median / timing.median, first.best / timing.best);
  }
  return result;
}

}  // namespace bench
