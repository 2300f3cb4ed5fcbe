#include "tour/independent.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

namespace tour {

void for_each_in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

Matrix::Matrix(std::int64_t depth, std::int64_t columns,
               const std::function<double(std::int64_t, std::int64_t)>& element)
    : depth_(depth) {
  const std::int64_t blocks = (columns + kBlock - 1) / kBlock;
  blocks_.resize(static_cast<std::size_t>(blocks * depth * kBlock));
  for (std::int64_t d = 0; d < depth; ++d) {
    for (std::int64_t c = 0; c < columns; ++c) {
      blocks_[static_cast<std::size_t>((c / kBlock * depth + d) * kBlock + c % kBlock)] =
          element(d, c);
    }
  }
}

void Matrix::multiply(const double* row, std::int64_t depth, std::int64_t columns,
                      double* result) const {
  for (std::int64_t first = 0; first < columns; first += kBlock) {
    const double* block = blocks_.data() + first * depth_;
    double sums[kBlock] = {};
    for (std::int64_t d = 0; d < depth; ++d) {
      for (std::int64_t c = 0; c < kBlock; ++c) sums[c] += row[d] * block[d * kBlock + c];
    }
    std::copy_n(sums, std::min(kBlock, columns - first), result + first);
  }
}

Check compare(const std::string& what, const float* got, const double* wanted, std::int64_t count,
              double tolerance) {
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) squares += wanted[i] * wanted[i];
  const double typical = std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(count, 1)));
  double worst = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (got[i] == wanted[i]) continue;
    const double error = std::abs(got[i] - wanted[i]) / std::max(std::abs(wanted[i]), typical);
    // A NaN compares as false: it must not pass for a small error.
    worst = error >= 0 ? std::max(worst, error) : std::numeric_limits<double>::infinity();
  }
  return {what, worst, tolerance, count};
}

std::vector<float> random_numbers(std::int64_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) {
    number = static_cast<float>(generator() >> 8) * 0x1p-23f - 1.0f;
  }
  return numbers;
}

}  // namespace tour
