#pragma once

#include "engines/cpu/kernels/tile_frame.h"

// clip(x * scale + first + second) in one pass: the epilogue that most contractions have, and that
// is felt when K is small.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

/// How a term takes part in a row.
enum Term { kAbsent, kSplat, kVector };

template <class T>
struct AffineRows {
  const T* x;
  const T* terms[3];  // scale, first, second
  T* target;
  int64_t x_step, term_steps[3], target_step;  // from row to row
  int rows, columns;                           // whole vectors
  T lower, upper;
};

template <class T, Term scale, Term first, Term second, bool clipped>
void affine_rows(const AffineRows<T>& a) {
  using V = Vector<T>;
  const V lower = splat<T>(a.lower), upper = splat<T>(a.upper);
  const T *x = a.x, *p = a.terms[0], *q = a.terms[1], *r = a.terms[2];
  T* target = a.target;
  for (int i = 0; i < a.rows; ++i) {
    V s{}, t{}, u{};
    if constexpr (scale == kSplat) s = splat<T>(*p);
    if constexpr (first == kSplat) t = splat<T>(*q);
    if constexpr (second == kSplat) u = splat<T>(*r);
#pragma GCC unroll 2
    for (int j = 0; j < a.columns; j += kLanes<T>) {
      if constexpr (scale == kVector) s = load(p + j);
      if constexpr (first == kVector) t = load(q + j);
      if constexpr (second == kVector) u = load(r + j);
      V v = load(x + j);
      if constexpr (scale != kAbsent) v = v * s;
      if constexpr (first != kAbsent) v = v + t;
      if constexpr (second != kAbsent) v = v + u;
      if constexpr (clipped) v = clamp(v, lower, upper);
      store(target + j, v);
    }
    x += a.x_step;
    target += a.target_step;
    p += a.term_steps[0];
    q += a.term_steps[1];
    r += a.term_steps[2];
  }
}

template <class T>
using AffineFunction = void (*)(const AffineRows<T>&);

template <class T, Term scale, Term first, Term second>
AffineFunction<T> affine_function(bool clipped) {
  return clipped ? affine_rows<T, scale, first, second, true>
                 : affine_rows<T, scale, first, second, false>;
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
  AffineRows<T> all;
  all.x = in[0].data;
  all.x_step = in[0].row_step;
  for (int k = 0; k < 3; ++k) {
    all.terms[k] = terms[k] == kAbsent ? in[0].data : in[k + 1].data;
    all.term_steps[k] = terms[k] == kAbsent ? 0 : in[k + 1].row_step;
  }
  all.target = target;
  all.target_step = step;
  all.rows = rows;
  all.columns = frame.padded_columns(column_varies);
  all.lower = static_cast<T>(instruction.pointwise.relu_lower_clip);
  all.upper = static_cast<T>(instruction.pointwise.relu_upper_clip);
  if (column_varies == in[0].column_varies) return function(all);

  // x alone is the same for all columns: spread out, a piece of a row at a time.
  constexpr int kSpread = 64;
  alignas(64) T same[kSpread];
  for (int i = 0; i < rows; ++i) {
    for (T& element : same) element = in[0].row(i)[0];
    for (int j = 0; j < all.columns; j += kSpread) {
      AffineRows<T> piece = all;
      piece.x = same;
      piece.rows = 1;
      piece.columns = all.columns - j < kSpread ? all.columns - j : kSpread;
      for (int k = 0; k < 3; ++k) {
        piece.terms[k] += i * all.term_steps[k] + (terms[k] == kVector ? j : 0);
      }
      piece.target += i * step + j;
      function(piece);
    }
  }
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
