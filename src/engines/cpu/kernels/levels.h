#pragma once

#include "engines/cpu/kernels/kernel_table.h"

// The entry points of the level that is being compiled; kernel_table.cpp collects them.

namespace warploom::cpu::WARPLOOM_ISA {

GemmKernels float_gemm();
GemmKernels bfloat16_gemm();  // packing for kernels that a higher level has
GemmKernels int16_gemm();
GemmKernels double_gemm();
SoftmaxKernels softmax_kernels();
RowKernels float_rows();
RowKernels double_rows();
ColumnKernels float_columns();
ColumnKernels double_columns();
void run_float_tile(const TileProgramView& program, const TileArguments& arguments);
void run_double_tile(const TileProgramView& program, const TileArguments& arguments);
void run_int64_tile(const TileProgramView& program,
                    const TileArguments& arguments);  // generic only
ReductionKernels reduction_kernels();                 // generic only

}  // namespace warploom::cpu::WARPLOOM_ISA
