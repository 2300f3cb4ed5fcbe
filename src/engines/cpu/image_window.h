#pragma once

#include <optional>

#include "engines/cpu/convolution_problem.h"

namespace warploom::cpu {

/// Output pixels of one image that one task computes: full rows of one depth, or a part of one row.
struct PixelBlock {
  int64_t image = 0, depth = 0;
  int64_t row = 0, rows = 0;
  int64_t column = 0, columns = 0;
};

/// The pixels of images of these extents, cut into blocks.
struct PixelBlocks {
  int64_t extents[3] = {1, 1, 1};
  int64_t row_blocks = 1, column_blocks = 1;  ///< of one depth

  PixelBlock block(int64_t index) const;
};

/// The part of the image that a block of output pixels reads, copied with its padding so that the
/// channels of neighbouring pixels are consecutive: [depth][row][pixel][channel]. Only pixels that
/// are read are copied: with a window of 1 in a direction, one per output pixel.
class ImageWindow {
 public:
  /// Channels of a group are padded with zeros to a multiple of `channel_unit`, and not consecutive
  /// from pixel to pixel where that would put pixels a page apart. `prologue` (may be
  /// null) computes the image's elements, and must outlive this.
  void bind(const ConvolutionProblem& problem, const fusion::FusionGroup& group,
            ir::ShapeTable shapes, const CompiledExpression* prologue, int64_t element_bytes,
            int64_t channel_unit, int64_t most_rows, int64_t most_columns);

  int64_t bytes() const { return slice_bytes() * problem_.window[0]; }
  int64_t scratch_bytes() const { return prologue_ ? expression_.scratch_bytes() : 0; }
  // Distances in bytes between what neighbouring output pixels and neighbouring taps read.
  int64_t pixel_step() const { return step(2) * pixel_bytes_; }
  int64_t row_step() const { return step(1) * row_bytes_; }
  int64_t tap_step(int axis) const;

  /// `pack`: as GemmKernels::pack_a.
  void copy(const RunContext& context, const PixelBlock& block, int64_t group,
            void (*pack)(const PackSource&, void*, int64_t), std::byte* target) const;

 private:
  int64_t step(int axis) const { return problem_.window[axis] == 1 ? 1 : problem_.stride[axis]; }
  /// Pixels between two copied ones.
  int64_t source_step(int axis) const {
    return problem_.window[axis] == 1 ? problem_.stride[axis] : 1;
  }
  int64_t extent(int axis, int64_t outputs) const {
    return (outputs - 1) * step(axis) + (problem_.window[axis] - 1) * problem_.dilation[axis] + 1;
  }
  int64_t slice_bytes() const { return extent(1, most_rows_) * row_bytes_; }
  void copy_row(const RunContext& context, const PixelBlock& block, int64_t group, int64_t depth,
                int64_t height, void (*pack)(const PackSource&, void*, int64_t),
                std::byte* target) const;

  ConvolutionProblem problem_;
  const CompiledExpression* prologue_ = nullptr;
  BoundExpression expression_;  // rows: images and pixels; columns: channels
  int64_t element_bytes_ = 0, pixel_bytes_ = 0, row_bytes_ = 0, most_rows_ = 0;
};

}  // namespace warploom::cpu
