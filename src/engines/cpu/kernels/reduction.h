#pragma once

#include <cstdint>

#include <warploom/types.h>

// Accumulators of reductions are double (int64_t where the program computes in int64), whatever is
// reduced. Their life: fill, any number of TileOpcode::kReduce, combine the accumulators of
// different chunks in the order of the chunks (never in the order in which threads finish: the
// result must not depend on the number of threads), finish.

namespace warploom::cpu {

struct ReductionKernels {
  /// The neutral element of `mode`. `integer`: accumulators are int64_t.
  void (*fill)(ReductionMode_t mode, bool integer, void* accumulators, int64_t n) = nullptr;
  /// target[i] = combine(target[i], source[i])
  void (*combine)(ReductionMode_t mode, bool integer, void* target, const void* source,
                  int64_t n) = nullptr;
  /// In place: the square root for NORM2, the division by `count` for AVG, nothing for the others.
  /// Convert from DOUBLE (INT64) afterwards to store.
  void (*finish)(ReductionMode_t mode, bool integer, void* accumulators, int64_t count,
                 int64_t n) = nullptr;
};

}  // namespace warploom::cpu
