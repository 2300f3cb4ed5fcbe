#pragma once

#include "engines/cpu/bound_norm.h"
#include "engines/cpu/channel_chunks.h"

namespace warploom::cpu {

/// A normalization with one SCALE and BIAS for each channel where channels are the columns of
/// memory: the sums of every column, then blocks of rows normalized and handed to the epilogue.
class BoundChannelNorm final : public CpuBoundKernel {
 public:
  /// The axes, if a problem is of this kind.
  static std::optional<ChannelAxes> fits(const NormProblem& problem, ir::ShapeTable shapes);

  BoundChannelNorm(std::shared_ptr<const NormProgram> program, NormProblem problem,
                   const ChannelAxes& channels, ir::ShapeTable shapes);

  double predicted_microseconds() const override;
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept override;

 private:
  struct Launch {
    std::span<void* const> pointers;
    std::byte* workspace;
    double epsilon, momentum;
  };
  /// One number for each statistic: Y = (X - mean) factor + offset.
  enum Array { kMean, kFactor, kOffset, kArrays };
  double* array(const Launch& launch, Array which) const {
    return reinterpret_cast<double*>(launch.workspace + arrays_offset_) +
           which * chunks_.statistics();
  }
  std::byte* scratch(const Launch& launch, int worker) const {
    return launch.workspace + scratch_offset_ + worker * scratch_stride_;
  }

  void find_statistics(const Launch& launch) const;
  void finish_statistics(const Launch& launch, int64_t plane) const;
  void finish_statistic(const Launch& launch, int64_t statistic, double mean,
                        double variance) const;
  void load_statistics(const Launch& launch) const;
  void set_weights(const Launch& launch, int64_t statistic, double mean, double inv_variance) const;
  void write_task(const Launch& launch, int64_t task, int worker) const;
  void run_epilogue(const Launch& launch, const ChannelMatrix::Block& block, int64_t task,
                    const std::byte* values, std::byte* tiles) const;
  Work work() const;

  std::shared_ptr<const NormProgram> program_;
  NormProblem problem_;
  ChannelChunks chunks_;
  ChannelMatrix x_, y_;
  const ColumnKernels* kernels_;
  BoundExpression epilogue_;
  int64_t arrays_offset_ = 0, sums_offset_ = 0;
  int64_t scratch_offset_ = 0, scratch_stride_ = 0, block_bytes_ = 0;
  bool is_parallel_ = false;
};

}  // namespace warploom::cpu
