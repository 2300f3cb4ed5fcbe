#pragma once
/// The computations that the tour's results are compared with: in double, written here with plain
/// loops, sharing nothing with the library.
#include <cstdint>
#include <functional>
#include <vector>

#include "tour/results.h"

namespace tour {

/// Calls body(i) for every i below `count`, from every core.
void for_each_in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& body);

/// A matrix [depth, columns] in double that rows are multiplied with, sixteen columns at a time.
class Matrix {
 public:
  /// element(d, c) gives the entries.
  Matrix(std::int64_t depth, std::int64_t columns,
         const std::function<double(std::int64_t, std::int64_t)>& element);
  /// result[c] = sum over d < `depth` of row[d] element(d, c), for c < `columns`: the upper left
  /// part of the matrix, or all of it.
  void multiply(const double* row, std::int64_t depth, std::int64_t columns, double* result) const;

 private:
  static constexpr std::int64_t kBlock = 16;
  std::int64_t depth_;
  std::vector<double> blocks_;  // [columns / kBlock][depth][kBlock], padded with zeros
};

/// Compares `count` results, element by element. The error is |got - wanted| over the larger of
/// |wanted| and the root mean square of everything wanted.
Check compare(const std::string& what, const float* got, const double* wanted, std::int64_t count,
              double tolerance);

/// Reproducible numbers, uniform in [-1, 1).
std::vector<float> random_numbers(std::int64_t count, std::uint32_t seed);

}  // namespace tour
