#pragma once

#include "engines/cpu/kernels/tile_frame.h"
#include "engines/cpu/kernels/tile_memory.h"

// Reductions of a tile into accumulators. Sums and products run in double (int64_t for integers):
// the conversion costs little, and nothing overflows or loses its last bits on the way. The order
// of combination follows from the tile's shape alone.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

template <class T>
struct AccumulatorOf {
  using type = double;
};
template <>
struct AccumulatorOf<int64_t> {
  using type = int64_t;
};

enum class Combine { kAdd, kMultiply, kMinimum, kMaximum };

constexpr Combine combine_of(ReductionMode_t mode) {
  switch (mode) {
    case ReductionMode_t::MUL:
    case ReductionMode_t::MUL_NO_ZEROS:
      return Combine::kMultiply;
    case ReductionMode_t::MIN:
      return Combine::kMinimum;
    case ReductionMode_t::MAX:
    case ReductionMode_t::AMAX:
      return Combine::kMaximum;
    default:
      return Combine::kAdd;
  }
}

/// What combining leaves unchanged.
template <class A>
constexpr A neutral(ReductionMode_t mode) {
  constexpr A kHighest =
      kIsInteger<A> ? static_cast<A>(INT64_MAX) : static_cast<A>(__builtin_inf());
  constexpr A kLowest =
      kIsInteger<A> ? static_cast<A>(INT64_MIN) : static_cast<A>(-__builtin_inf());
  switch (combine_of(mode)) {
    case Combine::kMultiply:
      return A{1};
    case Combine::kMinimum:
      return kHighest;
    case Combine::kMaximum:
      return mode == ReductionMode_t::AMAX ? A{0} : kLowest;
    case Combine::kAdd:
      break;
  }
  return A{0};
}

template <ReductionMode_t mode, class V>
WARPLOOM_INLINE V combine(V a, V b) {
  switch (combine_of(mode)) {
    case Combine::kMultiply:
      return multiply(a, b);
    case Combine::kMinimum:
      return nan_min(a, b);
    case Combine::kMaximum:
      return nan_max(a, b);
    case Combine::kAdd:
      break;
  }
  return add(a, b);
}

/// What is combined, of one element.
template <ReductionMode_t mode, class V>
WARPLOOM_INLINE V term(V v) {
  switch (mode) {
    case ReductionMode_t::AMAX:
    case ReductionMode_t::NORM1:
      return absolute(v);
    case ReductionMode_t::NORM2:
      return multiply(v, v);
    case ReductionMode_t::MUL_NO_ZEROS:
      return v == 0 ? v - v + 1 : v;
    default:
      return v;
  }
}

/// Vectors of the type in which a reduction runs, as many as hold one vector of T.
template <class T, bool widened>
struct Working {
  static constexpr int kParts = 1;
  using Element = T;
  Vector<T> part[kParts];
  static WARPLOOM_INLINE Working from(Vector<T> v) { return {{v}}; }
};
template <>
struct Working<float, true> {
  static constexpr int kParts = 2;
  using Element = double;
  F64 part[kParts];
  static WARPLOOM_INLINE Working from(F32 v) {
    const TwoF64 two = widen(v);
    return {{two.low, two.high}};
  }
};

/// The lanes from `n` on replaced by `other`.
template <class T>
WARPLOOM_INLINE Vector<T> first_lanes(Vector<T> v, int n, T other) {
  decltype(v == v) lane;
  for (int i = 0; i < kLanes<T>; ++i) lane[i] = i;
  return lane < n ? v : splat<T>(other);
}

template <ReductionMode_t mode, class T>
struct TileReduction {
  using A = typename AccumulatorOf<T>::type;
  static constexpr bool kExact =
      combine_of(mode) == Combine::kMinimum || combine_of(mode) == Combine::kMaximum;
  using W = Working<T, !kExact>;
  using Element = typename W::Element;
  static constexpr int kPartLanes = kLanes<Element>;

  static WARPLOOM_INLINE W start() {
    W result;
    for (auto& part : result.part) part = splat<Element>(neutral<Element>(mode));
    return result;
  }

  static WARPLOOM_INLINE void add(W& sum, Vector<T> v) {
    const W wide = W::from(v);
    for (int p = 0; p < W::kParts; ++p) {
      sum.part[p] = combine<mode>(sum.part[p], term<mode>(wide.part[p]));
    }
  }

  static WARPLOOM_INLINE A lanes_combined(const W& sum) {
    A result = neutral<A>(mode);
    for (int p = 0; p < W::kParts; ++p) {
      for (int lane = 0; lane < kPartLanes; ++lane) {
        result = combine<mode>(result, static_cast<A>(sum.part[p][lane]));
      }
    }
    return result;
  }

  /// A vector of row i from column j, neutral beyond the last column.
  static WARPLOOM_INLINE Vector<T> elements(const TileData<T>& value, int i, int j, int columns) {
    const T* row = value.row(i);
    const Vector<T> v = value.column_varies ? load(row + j) : splat<T>(row[0]);
    return j + kLanes<T> <= columns ? v : first_lanes(v, columns - j, kPadding);
  }
  // Its term is neutral.
  static constexpr T kPadding = mode == ReductionMode_t::AVG || mode == ReductionMode_t::NORM1 ||
                                        mode == ReductionMode_t::NORM2
                                    ? T{0}
                                    : neutral<T>(mode);

  static void run(const TileFrame<T>& frame, const TileOperand& operand, const TileData<T>& value) {
    A* accumulators = static_cast<A*>(operand.data);
    const bool over_rows = !row_varies(operand), over_columns = operand.column_stride == 0;
    const int columns = frame.columns;
    if (over_columns) {
      W sum = start();
      for (int i = 0; i < frame.rows; ++i) {
        for (int j = 0; j < columns; j += kLanes<T>) add(sum, elements(value, i, j, columns));
        if (over_rows) continue;
        A& accumulator = accumulators[row_offset(operand, i)];
        accumulator = combine<mode>(accumulator, lanes_combined(sum));
        sum = start();
      }
      if (over_rows) accumulators[0] = combine<mode>(accumulators[0], lanes_combined(sum));
      return;
    }
    for (int j = 0; j < columns; j += kLanes<T>) {
      const int lanes = columns - j < kLanes<T> ? columns - j : kLanes<T>;
      W sum = start();
      for (int i = 0; i < frame.rows; ++i) {
        add(sum, elements(value, i, j, columns));
        if (over_rows && i + 1 < frame.rows) continue;
        A* target = accumulators + (over_rows ? 0 : row_offset(operand, i));
        for (int lane = 0; lane < lanes; ++lane) {
          A& accumulator = target[(j + lane) * operand.column_stride];
          accumulator = combine<mode>(
              accumulator, static_cast<A>(sum.part[lane / kPartLanes][lane % kPartLanes]));
        }
        sum = start();
      }
    }
  }
};

template <class T>
void reduce_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  const TileOperand& operand = frame.operands[instruction.operand];
  const TileData<T>& value = frame.values[instruction.inputs[0]];
  switch (instruction.reduction) {
#define WARPLOOM_REDUCTION(name) \
  case ReductionMode_t::name:    \
    return TileReduction<ReductionMode_t::name, T>::run(frame, operand, value);
    WARPLOOM_REDUCTION(ADD)
    WARPLOOM_REDUCTION(MUL)
    WARPLOOM_REDUCTION(MIN)
    WARPLOOM_REDUCTION(MAX)
    WARPLOOM_REDUCTION(AMAX)
    WARPLOOM_REDUCTION(AVG)
    WARPLOOM_REDUCTION(NORM1)
    WARPLOOM_REDUCTION(NORM2)
    WARPLOOM_REDUCTION(MUL_NO_ZEROS)
#undef WARPLOOM_REDUCTION
    case ReductionMode_t::NOT_SET:
      break;
  }
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
