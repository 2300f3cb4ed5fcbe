#pragma once

#include <cstdint>

#include "engines/cpu/isa/isa.h"

namespace warploom::cpu {

/// What a kernel has to do, for a prediction of its time.
struct Work {
  double flops = 0;              ///< of the micro-kernels
  double efficiency = 1;         ///< their share of the peak: part-filled tiles, repeated passes
  double element_bytes = 4;      ///< of the multiplied elements: peak goes with its inverse
  double scalar_operations = 0;  ///< in plain loops
  double interpreted = 0;        ///< elements times instructions of tile programs
  double bytes = 0;              ///< to and from memory
  int64_t tasks = 1;             ///< pieces that can run at the same time
};

/// A roofline: arithmetic and memory overlap, start-up is added.
double predicted_microseconds(const Work& work, IsaLevel level, int threads);

/// Less than this is not worth a second thread.
inline constexpr double kParallelMicroseconds = 20;

}  // namespace warploom::cpu
