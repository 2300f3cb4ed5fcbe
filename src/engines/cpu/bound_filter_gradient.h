#pragma once

#include "engines/cpu/bound_image_gradient.h"

namespace warploom::cpu {

/// conv_wgrad: DW at (channel, tap, filter) is the sum over pixels of DY of X where the tap reads
/// it times DY. A block of channels of X is copied with its padding, transposed so that what
/// neighbouring pixels of DY read is consecutive; B is DY. Pixels are cut into splits with sums of
/// their own, as many as the shapes say, which are added up in order before the epilogue.
class BoundFilterGradient final : public CpuBoundKernel {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(
      std::shared_ptr<const ConvolutionGradientProgram> program, ir::ShapeTable shapes);

  double predicted_microseconds() const override;
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept override;

 private:
  struct Launch {
    std::span<void* const> pointers;
    std::byte* workspace;
  };
  /// Along one axis, tap t of pixel y reads X at (y + shift) stride + phase: the copy has a part
  /// for each phase that some tap needs.
  struct Axis {
    std::vector<int64_t> phases;       // of each part
    std::vector<int64_t> part, shift;  // of each tap
    int64_t least_shift = 0, most_shift = 0;

    int64_t parts() const { return static_cast<int64_t>(phases.size()); }
    int64_t length(int64_t pixels) const { return pixels + most_shift - least_shift; }
  };
  /// Pixels of DY whose products are added up at a time: rows of one depth of one image.
  struct Chunk {
    int64_t image = 0, depth = 0, row = 0, rows = 0, column = 0, columns = 0;
  };
  /// Filters and channels of one group that one task computes.
  struct Block {
    int64_t group = 0, filter = 0, filters = 0, channel = 0, channels = 0;
  };

  void bind(std::shared_ptr<const ConvolutionGradientProgram> program, ir::ShapeTable shapes);
  static Axis make_axis(const ConvolutionGeometry& geometry, int axis);
  void cut();
  Chunk chunk(int64_t index) const;
  Block block(int64_t index) const;
  int64_t blocks() const { return geometry_.groups * filter_blocks_ * channel_blocks_; }

  void run_task(const Launch& launch, int64_t task, int worker) const;
  void pack_dy(const Launch& launch, const Chunk& chunk, const Block& block,
               std::byte* target) const;
  void pack_x(const Launch& launch, const Chunk& chunk, const Block& block,
              std::byte* target) const;
  void multiply(const Chunk& chunk, const Block& block, const std::byte* x, const std::byte* dy,
                bool stays_inside, std::byte* sums) const;
  void multiply_tap(const Chunk& chunk, const int64_t (&tap)[3], bool stays_inside, GemmTile call,
                    const GemmShape& shape, int rows) const;
  void finish_rows(const Launch& launch, int64_t task, int worker) const;
  void add_up(const Launch& launch, const Region& region, std::byte* tile) const;

  std::byte* sums_of(const Launch& launch, int64_t split, int64_t block) const {
    return launch.workspace + sums_offset_ + (split * blocks() + block) * sum_bytes_;
  }

  std::shared_ptr<const ConvolutionGradientProgram> program_;
  ConvolutionGeometry geometry_;
  PlainInputs inputs_;
  PlainTensor dy_, x_;
  ConvolutionStrides dy_strides_, x_strides_;
  Axis axes_[3];
  BoundExpression epilogue_;  // rows: taps, then channels; columns: filters
  TaskGrid grid_;
  Work work_;
  bool reads_outside_ = false, is_parallel_ = false;

  int64_t chunk_rows_ = 1, row_chunks_ = 1, column_chunks_ = 1, chunks_ = 0, splits_ = 1;
  int64_t block_filters_ = 1, filter_blocks_ = 1, block_channels_ = 1, channel_blocks_ = 1;
  int64_t sum_stride_ = 0, sum_bytes_ = 0;  // of a row of sums, of all of a block
  /// Of the copy of X, in bytes: from one channel, tap in depth, part, row, part, pixel to the
  /// next.
  int64_t channel_bytes_ = 0, depth_bytes_ = 0, row_part_bytes_ = 0, row_bytes_ = 0,
          column_part_bytes_ = 0, x_bytes_ = 0;
  int64_t panel_bytes_ = 0, dy_bytes_ = 0;
  int64_t sums_offset_ = 0, scratch_offset_ = 0, scratch_stride_ = 0;
  int64_t tiles_offset_ = 0, tiles_stride_ = 0, sum_tile_offset_ = 0;
};

}  // namespace warploom::cpu
