#pragma once

#include "engines/cpu/cost_model.h"
#include "engines/cpu/cpu_engine.h"
#include "engines/cpu/norm_gradient_problem.h"

namespace warploom::cpu {

struct NormGradientProgram {
  fusion::FusionGroup group;
  Machine machine;
};

/// Gradients of a normalization whose parameters lie along the rows: with g = DY SCALE and n the
/// normalized X, DX = INV_VARIANCE (g - average(g) - n average(g n)); DSCALE and DBIAS are the sums
/// of DY n and DY over rows. Every task has sums of its own, added up in the order of the tasks.
class BoundRowGradient final : public CpuBoundKernel {
 public:
  BoundRowGradient(std::shared_ptr<const NormGradientProgram> program, NormGradientProblem problem);

  double predicted_microseconds() const override;
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept override;

 private:
  void run_task(std::span<void* const> pointers, std::byte* workspace, double epsilon, int64_t task,
                int worker) const;
  void add_up(std::span<void* const> pointers, std::byte* workspace, int64_t parameter,
              int64_t begin, int64_t count) const;
  /// DSCALE's sums of a task, then DBIAS's.
  double* sums_of(std::byte* workspace, int64_t task) const {
    return reinterpret_cast<double*>(workspace + sums_offset_) + task * 2 * problem_.length;
  }
  Work work() const;

  std::shared_ptr<const NormGradientProgram> program_;
  NormGradientProblem problem_;
  const RowKernels* kernels_;
  int64_t rows_per_parameter_ = 0, tasks_per_parameter_ = 1, rows_per_task_ = 1;
  int64_t block_rows_ = 1, row_bytes_ = 0;
  int64_t sums_offset_ = 0, scratch_offset_ = 0, scratch_stride_ = 0;
  bool has_parameter_gradients_ = false, is_parallel_ = false;
};

}  // namespace warploom::cpu
