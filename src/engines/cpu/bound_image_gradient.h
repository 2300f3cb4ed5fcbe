#pragma once

#include "engines/cpu/contraction.h"
#include "engines/cpu/convolution_geometry.h"
#include "engines/cpu/image_window.h"

namespace warploom::cpu {

struct ConvolutionGradientProgram : ContractionProgram {
  std::vector<StoredPrologue> prologues;
};

/// conv_dgrad: DX at x is the sum, over the taps that reach a pixel of DY, of DY there times the
/// filter: a row of A is a pixel of DY, and B the filter with a matrix [filters x channels] for
/// each tap. With a stride, only every so manieth tap reaches a pixel: pixels of DX that the same
/// taps reach are computed together.
class BoundImageGradient final : public BoundContraction {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(
      std::shared_ptr<const ConvolutionGradientProgram> program, ir::ShapeTable shapes);

 protected:
  void prepare(const Launch& launch) const override;
  void pack_b(const Launch& launch, int64_t phase, int64_t slot, int64_t begin, int64_t end,
              int worker) const override;
  RowTask row_task(int64_t index) const override;
  RowSource rows_of_a(const Launch& launch, const RowTask& task, int64_t group,
                      int worker) const override;
  int64_t slot_of_b(const RowTask&, int64_t group) const override { return group; }
  void multiply(const Launch& launch, const Product& product) const override;

 private:
  /// The taps that reach a pixel of DY from a position in DX along an axis: taps first, first +
  /// step, ...; the n-th one reaches pixel y - n dy.
  struct Reach {
    int64_t first = 0, step = 1, count = 0;
    int64_t y = 0, dy = 0;
  };
  Reach reach(int axis, int64_t x) const;
  /// Pixels of DY that positions [x, x + count) may reach: the first, and how many.
  int64_t first_pixel(int axis, int64_t x) const;
  int64_t pixel_count(int axis, int64_t x, int64_t count) const;

  void bind(std::shared_ptr<const ConvolutionGradientProgram> program, ir::ShapeTable shapes);
  bool reads_outside() const;
  void cut();
  bool has_special_filter(const Launch& launch, const Product& product) const;
  void multiply_run(const Product& product, const PixelBlock& block, int64_t row, int64_t count,
                    bool stays_inside) const;
  void multiply_pixels(const Product& product, const Reach (&reach)[3], const std::byte* a,
                       int64_t rows, GemmTile tile) const;
  void multiply_inside(const Product& product, const Reach (&reach)[3], const std::byte* a,
                       GemmTile tile) const;
  int64_t tap_bytes() const;

  std::shared_ptr<const ConvolutionGradientProgram> program_;
  ConvolutionGeometry geometry_;
  PlainInputs inputs_;
  ConvolutionStrides dy_strides_, w_strides_;
  PlainTensor dy_, w_;
  PixelBlocks blocks_;
  bool is_direct_ = false, reads_outside_ = false;
  int64_t depth_ = 0;  // filters of a group, padded to whole steps
  /// Distances in bytes between pixels of DY, in memory or in the copy.
  int64_t pixel_strides_[3] = {0, 0, 0};
  int64_t reach_steps_[3] = {1, 1, 1}, reach_distances_[3] = {1, 1, 1};
  int64_t flags_offset_ = 0;
};

}  // namespace warploom::cpu
