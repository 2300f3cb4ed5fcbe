#pragma once

#include <cstdint>

#include <warploom/types.h>

#include "engines/cpu/isa/isa.h"
#include "engines/cpu/kernels/reduction.h"
#include "engines/cpu/kernels/rows.h"
#include "engines/cpu/kernels/softmax.h"
#include "engines/cpu/kernels/tile_program.h"

// Everything compiled once per instruction set, behind one table of function pointers.

namespace warploom::cpu {

/// C[m x NR] (+)= sum over t < batch of A_t[m x K] * B_t[K x NR], where A_t is A moved by
/// t * a_batch_stride, and B_t a part of a packed panel, b_batch_stride from the one before.
/// Strides in bytes. All NR columns of C are written, also those past the end of B. Every element
/// is summed in the order of K, whatever m and NR, so that splitting rows or K never changes a bit.
struct GemmTile {
  const void* a = nullptr;  ///< row-major, consecutive along K, of GemmKernels::a_bytes elements
  int64_t a_row_stride = 0;
  int64_t a_batch_stride = 0;
  const void* b = nullptr;
  int64_t b_batch_stride = 0;
  void* c = nullptr;
  int64_t c_row_stride = 0;
  int64_t k_steps = 0;  ///< ceil(K / k_per_step); A and B hold zeros in the padding
  int64_t batch = 1;
  int64_t accumulate = 0;  ///< 1: add to what C holds; 0: overwrite
  /// NR elements: C becomes min(max(C + bias, lower), upper) at the end, and NaN stays NaN. Only
  /// where GemmKernels::finishes.
  const float* bias = nullptr;
  float lower = -__builtin_inff(), upper = __builtin_inff();
};

using GemmKernel = void (*)(const GemmTile*);

/// Micro-kernels for tiles of one width.
struct GemmShape {
  int32_t mr = 0;                       ///< most rows of a tile
  int32_t nr = 0;                       ///< columns of a tile
  const GemmKernel* kernels = nullptr;  ///< indexed by the number of rows, 1 to mr

  void run(int m, const GemmTile& tile) const { kernels[m](&tile); }
};

/// A matrix to pack. Strides in elements, any sign or zero.
struct PackSource {
  const void* data = nullptr;
  DataType_t type = DataType_t::FLOAT;
  int64_t rows = 0;     ///< K for B, M for A
  int64_t columns = 0;  ///< N for B, K for A
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

/// The micro-kernels of one element format, and the packing that feeds them.
struct GemmKernels
    : GemmShape {          // tiles as wide as a panel; mr == 0: this level has no such kernel
  GemmShape narrow;        ///< tiles half as wide: the first columns of a panel
  GemmShape narrowest;     ///< a quarter as wide; nr == 0: there are none
  int32_t k_per_step = 1;  ///< elements of K in one step: 2 where pairs are multiplied
  int32_t a_bytes = 0;     ///< size of an element of packed A and B
  int32_t c_bytes = 0;     ///< size of an element of C (float, int32 or double)
  DataType_t a_type =
      DataType_t::NOT_SET;  ///< A of this type need not be packed (if K is whole steps)
  bool finishes = false;    ///< heeds GemmTile::bias

  /// Packs B (rows = K, columns = N) into panels of nr columns: [panel][k step][nr][k_per_step],
  /// zeros in the tails. `panel_stride` is the distance of two panels in bytes, at least
  /// k_steps(K) * step_bytes().
  void (*pack_b)(const PackSource& source, void* panels, int64_t panel_stride) = nullptr;
  /// Packs A (rows = M, columns = K) row-major, rows `row_stride` bytes apart, zeros up to whole
  /// steps of K.
  void (*pack_a)(const PackSource& source, void* rows, int64_t row_stride) = nullptr;

  explicit operator bool() const { return mr != 0; }
  int64_t k_steps(int64_t k) const { return (k + k_per_step - 1) / k_per_step; }
  /// Bytes of one step in a panel.
  int64_t step_bytes() const { return static_cast<int64_t>(nr) * k_per_step * a_bytes; }
  /// Kernels for the first `columns` of a panel.
  const GemmShape& shape_for(int64_t columns) const {
    return columns <= narrowest.nr ? narrowest : columns <= narrow.nr ? narrow : *this;
  }
  /// Whether kernels touch no more than these columns of B and C.
  bool fits(int64_t columns) const {
    const int64_t last = columns % nr;
    return last == 0 || shape_for(last).nr == last;
  }
};

struct KernelTable {
  IsaLevel level = IsaLevel::kGeneric;

  GemmKernels gemm_float;     ///< any float-like type, converted while packing
  GemmKernels gemm_bfloat16;  ///< pairs of bfloat16, float sums; only where the processor has it
  GemmKernels gemm_int16;     ///< int8 and uint8 widened to pairs of int16, exact int32 sums
  GemmKernels gemm_double;    ///< double, int32

  /// Runs the program on one tile.
  void (*run_tile)(const TileProgramView& program, const TileArguments& arguments) = nullptr;

  SoftmaxKernels softmax;
  RowKernels float_rows, double_rows;
  ColumnKernels float_columns, double_columns;
  ReductionKernels reduction;

  /// Copies n elements, converting; each value is rounded once, integers saturate. Strides in
  /// elements of each side's type.
  void (*convert)(const void* source, DataType_t source_type, int64_t source_stride, void* target,
                  DataType_t target_type, int64_t target_stride, int64_t n) = nullptr;
};

/// The table of a level that this machine can run (see isa.h); of the best one without argument.
const KernelTable& kernel_table(IsaLevel level);
const KernelTable& kernel_table();

}  // namespace warploom::cpu
