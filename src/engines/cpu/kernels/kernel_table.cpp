#include "engines/cpu/kernels/kernel_table.h"

#include <algorithm>
#include <cstddef>

#if defined(__x86_64__)
#define WARPLOOM_LEVELS(X) X(generic) X(avx2) X(avx512)
extern "C" {
extern const warploom::cpu::GemmKernel warploom_gemm_avx512bf16_bfloat16[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx512bf16_bfloat16_narrow[];
extern const warploom::cpu::GemmKernel warploom_gemm_avx512bf16_bfloat16_narrowest[];
}
#else
#define WARPLOOM_LEVELS(X) X(generic)
#endif

#define WARPLOOM_ISA generic
#include "engines/cpu/kernels/levels.h"
#undef WARPLOOM_ISA

namespace warploom::cpu {

// The same declarations as in levels.h, for the other levels.
#define WARPLOOM_DECLARE(level)                                                         \
  namespace level {                                                                     \
  GemmKernels float_gemm();                                                             \
  GemmKernels bfloat16_gemm();                                                          \
  GemmKernels int16_gemm();                                                             \
  GemmKernels double_gemm();                                                            \
  SoftmaxKernels softmax_kernels();                                                     \
  RowKernels float_rows();                                                              \
  RowKernels double_rows();                                                             \
  ColumnKernels float_columns();                                                        \
  ColumnKernels double_columns();                                                       \
  void run_float_tile(const TileProgramView& program, const TileArguments& arguments);  \
  void run_double_tile(const TileProgramView& program, const TileArguments& arguments); \
  }
WARPLOOM_LEVELS(WARPLOOM_DECLARE)
#undef WARPLOOM_DECLARE

namespace {

// gemm_x86.gen.py knows these offsets.
static_assert(offsetof(GemmTile, a) == 0 && offsetof(GemmTile, a_row_stride) == 8 &&
              offsetof(GemmTile, a_batch_stride) == 16 && offsetof(GemmTile, b) == 24 &&
              offsetof(GemmTile, b_batch_stride) == 32 && offsetof(GemmTile, c) == 40 &&
              offsetof(GemmTile, c_row_stride) == 48 && offsetof(GemmTile, k_steps) == 56 &&
              offsetof(GemmTile, batch) == 64 && offsetof(GemmTile, accumulate) == 72 &&
              offsetof(GemmTile, bias) == 80 && offsetof(GemmTile, lower) == 88 &&
              offsetof(GemmTile, upper) == 92);

using RunTile = void (*)(const TileProgramView&, const TileArguments&);

template <RunTile float_tile, RunTile double_tile>
void run_tile(const TileProgramView& program, const TileArguments& arguments) {
  if (arguments.rows <= 0 || arguments.columns <= 0) return;
  switch (program.compute) {
    case TileCompute::kFloat:
      return float_tile(program, arguments);
    case TileCompute::kDouble:
      return double_tile(program, arguments);
    case TileCompute::kInt64:
      return generic::run_int64_tile(program, arguments);
  }
}

/// A compute type that holds every value of the source.
TileCompute compute_for(DataType_t source) {
  switch (source) {
    case DataType_t::INT64:
      return TileCompute::kInt64;
    case DataType_t::DOUBLE:
    case DataType_t::INT32:
      return TileCompute::kDouble;
    default:
      return TileCompute::kFloat;
  }
}

/// A program of two instructions, a piece at a time.
template <RunTile run>
void convert(const void* source, DataType_t source_type, int64_t source_stride, void* target,
             DataType_t target_type, int64_t target_stride, int64_t n) {
  constexpr int32_t kPiece = 512;
  alignas(64) std::byte slots[kPiece * sizeof(double) + 64];
  const TileInstruction instructions[] = {
      {.opcode = TileOpcode::kLoad,
       .type = source_type,
       .in_place = true,
       .operand = 0,
       .result = 0},
      {.opcode = TileOpcode::kStore, .type = target_type, .operand = 1, .inputs = {0, -1, -1, -1}}};
  const TileProgramView program{instructions, 2, 1, kPiece, 1, compute_for(source_type)};
  const int64_t source_bytes = detail::get_data_type_size(source_type) * source_stride;
  const int64_t target_bytes = detail::get_data_type_size(target_type) * target_stride;
  for (int64_t i = 0; i < n; i += kPiece) {
    const auto* from = static_cast<const std::byte*>(source) + i * source_bytes;
    const TileOperand operands[] = {
        {.data = const_cast<std::byte*>(from), .column_stride = source_stride},
        {.data = static_cast<std::byte*>(target) + i * target_bytes,
         .column_stride = target_stride}};
    run(program, {operands, slots, 1, static_cast<int32_t>(std::min<int64_t>(kPiece, n - i))});
  }
}

#define WARPLOOM_TABLE(isa)                                                       \
  KernelTable isa##_table(IsaLevel level) {                                       \
    KernelTable table;                                                            \
    table.level = level;                                                          \
    table.gemm_float = isa::float_gemm();                                         \
    table.gemm_int16 = isa::int16_gemm();                                         \
    table.gemm_double = isa::double_gemm();                                       \
    table.run_tile = run_tile<isa::run_float_tile, isa::run_double_tile>;         \
    table.softmax = isa::softmax_kernels();                                       \
    table.float_rows = isa::float_rows();                                         \
    table.double_rows = isa::double_rows();                                       \
    table.float_columns = isa::float_columns();                                   \
    table.double_columns = isa::double_columns();                                 \
    table.reduction = generic::reduction_kernels();                               \
    table.convert = convert<run_tile<isa::run_float_tile, isa::run_double_tile>>; \
    return table;                                                                 \
  }
WARPLOOM_LEVELS(WARPLOOM_TABLE)
#undef WARPLOOM_TABLE

#if defined(__x86_64__)
// The bfloat16 products are all that this level adds.
KernelTable avx512bf16_table() {
  KernelTable table = avx512_table(IsaLevel::kAvx512Bf16);
  table.gemm_bfloat16 = avx512::bfloat16_gemm();
  table.gemm_bfloat16.kernels = warploom_gemm_avx512bf16_bfloat16;
  table.gemm_bfloat16.narrow.kernels = warploom_gemm_avx512bf16_bfloat16_narrow;
  table.gemm_bfloat16.narrowest = {14, 8, warploom_gemm_avx512bf16_bfloat16_narrowest};
  return table;
}
#endif

}  // namespace

// A table is made only when asked for: the code that makes it is compiled for its level, too.
const KernelTable& kernel_table(IsaLevel level) {
#if defined(__x86_64__)
  if (level == IsaLevel::kAvx512Bf16) {
    static const KernelTable table = avx512bf16_table();
    return table;
  }
  if (level == IsaLevel::kAvx512) {
    static const KernelTable table = avx512_table(level);
    return table;
  }
  if (level == IsaLevel::kAvx2) {
    static const KernelTable table = avx2_table(level);
    return table;
  }
#endif
  static const KernelTable table = generic_table(IsaLevel::kGeneric);
  static_cast<void>(level);
  return table;
}

const KernelTable& kernel_table() {
  return kernel_table(active_isa().level);
}

}  // namespace warploom::cpu
