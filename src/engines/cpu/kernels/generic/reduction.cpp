#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/math_scalar.h"
#include "engines/cpu/kernels/tile_reduce.h"

// Accumulators outside tiles: little work, one level is enough.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

template <ReductionMode_t mode, class A>
void combine_all(A* target, const A* source, int64_t n) {
  for (int64_t i = 0; i < n; ++i) target[i] = combine<mode>(target[i], source[i]);
}

template <class A>
void combine_mode(ReductionMode_t mode, A* target, const A* source, int64_t n) {
  switch (combine_of(mode)) {
    case Combine::kAdd:
      return combine_all<ReductionMode_t::ADD>(target, source, n);
    case Combine::kMultiply:
      return combine_all<ReductionMode_t::MUL>(target, source, n);
    case Combine::kMinimum:
      return combine_all<ReductionMode_t::MIN>(target, source, n);
    case Combine::kMaximum:
      return combine_all<ReductionMode_t::MAX>(target, source, n);
  }
}

void fill(ReductionMode_t mode, bool integer, void* accumulators, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (integer) {
      static_cast<int64_t*>(accumulators)[i] = neutral<int64_t>(mode);
    } else {
      static_cast<double*>(accumulators)[i] = neutral<double>(mode);
    }
  }
}

void combine_accumulators(ReductionMode_t mode, bool integer, void* target, const void* source,
                          int64_t n) {
  if (integer) {
    combine_mode(mode, static_cast<int64_t*>(target), static_cast<const int64_t*>(source), n);
  } else {
    combine_mode(mode, static_cast<double*>(target), static_cast<const double*>(source), n);
  }
}

void finish(ReductionMode_t mode, bool integer, void* accumulators, int64_t count, int64_t n) {
  if (mode != ReductionMode_t::NORM2 && mode != ReductionMode_t::AVG) return;
  for (int64_t i = 0; i < n; ++i) {
    double& real = static_cast<double*>(accumulators)[i];
    int64_t& whole = static_cast<int64_t*>(accumulators)[i];
    if (mode == ReductionMode_t::AVG) {
      if (integer) {
        whole = saturate<int64_t>(static_cast<double>(whole) / static_cast<double>(count));
      } else {
        real /= static_cast<double>(count);
      }
    } else if (integer) {
      whole = saturate<int64_t>(__builtin_sqrt(static_cast<double>(whole)));
    } else {
      real = __builtin_sqrt(real);
    }
  }
}

}  // namespace

ReductionKernels reduction_kernels() {
  return {fill, combine_accumulators, finish};
}

}  // namespace warploom::cpu::WARPLOOM_ISA
