#pragma once

#include "engines/cpu/contraction.h"
#include "engines/cpu/gemm_operand.h"

namespace warploom::cpu {

struct GemmProgram : ContractionProgram {
  std::optional<CompiledExpression> prologues[2];  ///< of A and B
};

/// A matmul on particular shapes. Where the result is stored column by column, its transpose is
/// computed: "rows" and "columns" are those of what is computed.
class BoundGemm final : public BoundContraction {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(std::shared_ptr<const GemmProgram> program,
                                                      ir::ShapeTable shapes);

 protected:
  void pack_b(const Launch& launch, int64_t phase, int64_t slot, int64_t begin, int64_t end,
              int worker) const override;
  RowTask row_task(int64_t index) const override;
  RowSource rows_of_a(const Launch& launch, const RowTask& task, int64_t group,
                      int worker) const override;
  const std::byte* panels_of_b(const Launch& launch, const RowTask& task,
                               int64_t slot) const override;
  int64_t slot_of_b(const RowTask& task, int64_t group) const override;

 private:
  bool reads_b_in_place() const;
  void add_steps();
  void bind(std::shared_ptr<const GemmProgram> program, ir::ShapeTable shapes);
  void cut(int64_t flops);
  RunContext prologue_context(const Launch& launch, int worker) const;

  std::shared_ptr<const GemmProgram> program_;
  GemmOperand a_, b_;
  int64_t batches_ = 1, rows_ = 0, columns_ = 0, depth_ = 0;
  int64_t blocks_ = 1;  // row tasks of one batch
  bool packs_a_ = false;
  int64_t packed_row_stride_ = 0;  // bytes
  int64_t prologue_offset_ = 0, prologue_stride_ = 0;
};

}  // namespace warploom::cpu
