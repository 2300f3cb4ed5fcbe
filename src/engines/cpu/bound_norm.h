#pragma once

#include "engines/cpu/bound_expression.h"
#include "engines/cpu/cost_model.h"
#include "engines/cpu/cpu_engine.h"
#include "engines/cpu/norm_problem.h"

namespace warploom::cpu {

/// Of what follows a normalization: a few rows, or pieces of one.
inline constexpr TileShape kNormTile{8, 256};

struct NormProgram {
  fusion::FusionGroup group;
  Machine machine;
  CompiledExpression epilogue;  // reads its anchor from the tile operand

  /// Nothing is computed after the normalization.
  bool is_plain() const;
};

Result<std::unique_ptr<CpuBoundKernel>> bind_norm(std::shared_ptr<const NormProgram> program,
                                                  ir::ShapeTable shapes);

/// A block of rows at a time: statistics, the normalized rows in a buffer, the epilogue on tiles of
/// the buffer.
class BoundNorm final : public CpuBoundKernel {
 public:
  BoundNorm(std::shared_ptr<const NormProgram> program, NormProblem problem, ir::ShapeTable shapes);

  double predicted_microseconds() const override;
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept override;

 private:
  /// What every row of a launch needs.
  struct Launch {
    std::span<void* const> pointers;
    std::byte* workspace;
    double epsilon, momentum;
  };
  /// How a row is normalized: (value - mean) factor.
  struct Affine {
    const void* values;
    double mean, factor;
  };
  /// A row of SCALE or BIAS is of double.
  struct Parameter {
    const RowTensor* tensor = nullptr;  // may be of no tensor
    int64_t shared_offset = 0;          // of the row that all rows share
    double neutral = 0;                 // where there is none

    bool is_row() const { return *tensor && !tensor->is_constant_along(); }
  };

  void bind_epilogue(ir::ShapeTable shapes);
  Parameter bind_parameter(const RowTensor& tensor, double neutral, const char* purpose);
  void fill_row(double value, DataType_t type, std::byte* target) const;
  void fill_shared(const Launch& launch, const Parameter& parameter) const;
  const void* parameter_row(const Launch& launch, const Parameter& parameter, int64_t row,
                            std::byte* buffer) const;
  double parameter_element(const Launch& launch, const Parameter& parameter, int64_t row) const;

  void run_block(const Launch& launch, int64_t task, int64_t first, int64_t rows, int worker) const;
  void run_row(const Launch& launch, int64_t row, std::byte* result, std::byte* scratch) const;
  Affine softmax_row(const Launch& launch, int64_t row, const void* x, std::byte* result) const;
  Affine moments_row(const Launch& launch, int64_t row, const void* x) const;
  Work work() const;

  std::shared_ptr<const NormProgram> program_;
  NormProblem problem_;
  const RowKernels* kernels_;
  BoundExpression epilogue_;
  Parameter scale_, bias_;
  bool has_parameter_rows_ = false;  // else one element of each for a row
  TaskGrid grid_;
  int64_t segments_ = 1;  // rows of the epilogue for one row
  int64_t block_rows_ = 1;
  int64_t row_bytes_ = 0, parameter_bytes_ = 0, results_offset_ = 0;
  int64_t scratch_offset_ = 0, scratch_stride_ = 0, tiles_offset_ = 0;
  bool is_parallel_ = false;
};

}  // namespace warploom::cpu
