#pragma once

#include "engines/cpu/kernels/tile_frame.h"

// clip(x * scale + first + second) in one pass: the epilogue that most contractions have, and that
// is felt when K is small.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

/// How a term takes part in a row.
enum Term { kAbsent, kSplat, kVector };

template <class T>
struct AffineRow {
  const T* x;
  const T* terms[3];  // scale, first, second
  T* target;
  int columns;  // whole vectors
  T lower, upper;
};

template <class T, Term scale, Term first, Term second, bool clipped>
void affine_row(const AffineRow<T>& row) {
  using V = Vector<T>;
  V splats[3];
  for (int k = 0; k < 3; ++k) splats[k] = row.terms[k] != nullptr ? splat<T>(*row.terms[k]) : V{};
  const V lower = splat<T>(row.lower), upper = splat<T>(row.upper);
#pragma GCC unroll 2
  for (int j = 0; j < row.columns; j += kLanes<T>) {
    V v = load(row.x + j);
    if constexpr (scale != kAbsent) v = v * (scale == kSplat ? splats[0] : load(row.terms[0] + j));
    if constexpr (first != kAbsent) v = v + (first == kSplat ? splats[1] : load(row.terms[1] + j));
    if constexpr (second != kAbsent) {
      v = v + (second == kSplat ? splats[2] : load(row.terms[2] + j));
    }
    if constexpr (clipped) v = clamp(v, lower, upper);
    store(row.target + j, v);
  }
}

template <class T>
using AffineFunction = void (*)(const AffineRow<T>&);

template <class T, Term scale, Term first, Term second>
AffineFunction<T> affine_function(bool clipped) {
  return clipped ? affine_row<T, scale, first, second, true>
                 : affine_row<T, scale, first, second, false>;
}
template <class T, Term scale, Term first>
AffineFunction<T> affine_function(Term second, bool clipped) {
  switch (second) {
    case kAbsent:
      return affine_function<T, scale, first, kAbsent>(clipped);
    case kSplat:
      return affine_function<T, scale, first, kSplat>(clipped);
    case kVector:
      break;
  }
  return affine_function<T, scale, first, kVector>(clipped);
}
template <class T, Term scale>
AffineFunction<T> affine_function(Term first, Term second, bool clipped) {
  switch (first) {
    case kAbsent:
      return affine_function<T, scale, kAbsent>(second, clipped);
    case kSplat:
      return affine_function<T, scale, kSplat>(second, clipped);
    case kVector:
      break;
  }
  return affine_function<T, scale, kVector>(second, clipped);
}
template <class T>
AffineFunction<T> affine_function(const Term (&terms)[3], bool clipped) {
  switch (terms[0]) {
    case kAbsent:
      return affine_function<T, kAbsent>(terms[1], terms[2], clipped);
    case kSplat:
      return affine_function<T, kSplat>(terms[1], terms[2], clipped);
    case kVector:
      break;
  }
  return affine_function<T, kVector>(terms[1], terms[2], clipped);
}

template <class T>
void affine_tile(TileFrame<T>& frame, const TileInstruction& instruction) {
  TileData<T> in[4];
  bool row_varies = false, column_varies = false;
  for (int k = 0; k < 4; ++k) {
    if (instruction.inputs[k] < 0) continue;
    in[k] = frame.values[instruction.inputs[k]];
    row_varies |= in[k].row_varies();
    column_varies |= in[k].column_varies;
  }
  const int rows = row_varies ? frame.rows : 1;
  T* target = frame.define(instruction, row_varies, column_varies);
  const int64_t step = frame.values[instruction.result].row_step;
  Term terms[3];
  for (int k = 0; k < 3; ++k) {
    terms[k] = instruction.inputs[k + 1] < 0 ? kAbsent : in[k + 1].column_varies ? kVector : kSplat;
  }
  const bool clipped = instruction.pointwise.mode == PointwiseMode_t::RELU_FWD;
  const AffineFunction<T> function = affine_function<T>(terms, clipped);
  const int columns = frame.padded_columns(column_varies);
  const bool spread = column_varies && !in[0].column_varies;  // x is the one that must be a vector
  constexpr int kSpread = 64;
  alignas(64) T same[kSpread];
  const int piece = spread ? kSpread : columns;
  AffineRow<T> row;
  row.lower = static_cast<T>(instruction.pointwise.relu_lower_clip);
  row.upper = static_cast<T>(instruction.pointwise.relu_upper_clip);
  for (int i = 0; i < rows; ++i, target += step) {
    if (spread) {
      for (T& element : same) element = in[0].row(i)[0];
    }
    for (int j = 0; j < columns; j += piece) {
      row.x = spread ? same : in[0].row(i) + j;
      for (int k = 0; k < 3; ++k) {
        row.terms[k] =
            terms[k] == kAbsent ? nullptr : in[k + 1].row(i) + (terms[k] == kVector ? j : 0);
      }
      row.target = target + j;
      row.columns = columns - j < piece ? columns - j : piece;
      function(row);
    }
  }
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
