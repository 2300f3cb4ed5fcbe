#pragma once

#include "engines/cpu/kernels/simd.h"

// Elements of float or of double, as many as one vector of float has, computed with as double.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

/// Elements of a step: one vector of float, two of double.
constexpr int kStep = kLanes<float>;

WARPLOOM_INLINE TwoF64 load_step(const float* p) {
  return widen(load(p));
}
WARPLOOM_INLINE TwoF64 load_step(const double* p) {
  return {load(p), load(p + kLanes<double>)};
}
WARPLOOM_INLINE void store_step(float* p, TwoF64 v) {
  store(p, narrow(v));
}
WARPLOOM_INLINE void store_step(double* p, TwoF64 v) {
  store(p, v.low);
  store(p + kLanes<double>, v.high);
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
