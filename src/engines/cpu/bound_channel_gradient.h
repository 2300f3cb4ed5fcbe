#pragma once

#include "engines/cpu/bound_row_gradient.h"
#include "engines/cpu/channel_chunks.h"
#include "engines/cpu/row_statistics.h"

namespace warploom::cpu {

/// Gradients of a normalization with one SCALE for each channel, the weights of that of batch
/// normalization, and genstats: two sums for every statistic (of DY and DY n, or of X and X^2), and
/// what is made of them. Statistics are rows of memory, or columns of it (channels last).
class BoundChannelGradient final : public CpuBoundKernel {
 public:
  BoundChannelGradient(std::shared_ptr<const NormGradientProgram> program,
                       NormGradientProblem problem, ir::ShapeTable shapes);

  double predicted_microseconds() const override;
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept override;

 private:
  struct Launch {
    std::span<void* const> pointers;
    std::byte* workspace;
    double epsilon;
  };
  /// One number for each statistic.
  enum Array { kMean, kInvVariance, kSum, kProducts, kOfDy, kOfX, kOffset, kArrays };
  double* array(const Launch& launch, Array which) const {
    return reinterpret_cast<double*>(launch.workspace + arrays_offset_) + which * problem_.rows;
  }
  std::byte* scratch(const Launch& launch, int worker, int64_t buffer) const {
    return launch.workspace + scratch_offset_ + (worker * kBuffers + buffer) * buffer_bytes_;
  }
  static constexpr int64_t kBuffers = 3;  // X, DY, DX
  bool is_gradient() const { return static_cast<bool>(problem_.dy); }
  bool computes_statistics() const { return is_gradient() && !problem_.inv_variance; }

  void load_statistics(const Launch& launch, int64_t begin, int64_t end) const;
  void weigh(const Launch& launch, int64_t statistic) const;
  void write_channel_results(const Launch& launch) const;

  // Statistics are rows.
  void run_row(const Launch& launch, int64_t row, int worker) const;
  int64_t piece_length(int64_t begin) const;
  // Statistics are columns.
  void run_columns(const Launch& launch) const;
  void shift_columns(const Launch& launch, int64_t plane) const;
  void sum_columns(const Launch& launch, int64_t task, int worker, bool of_x) const;
  void finish_sums(const Launch& launch, int64_t plane, bool of_x) const;
  void write_columns(const Launch& launch, int64_t task, int worker) const;
  Work work() const;

  std::shared_ptr<const NormGradientProgram> program_;
  NormGradientProblem problem_;
  bool has_columns_ = false;
  ChannelChunks chunks_;
  ChannelMatrix x_, dy_, dx_;
  int64_t arrays_offset_ = 0, sums_offset_ = 0, parameters_offset_ = 0;
  int64_t scratch_offset_ = 0, buffer_bytes_ = 0;
  bool is_parallel_ = false;
};

}  // namespace warploom::cpu
