#pragma once

#include <optional>

#include "engines/cpu/contraction.h"
#include "engines/cpu/image_window.h"

namespace warploom::cpu {

struct ConvolutionProgram : ContractionProgram {
  std::optional<CompiledExpression> prologue;  ///< of X
};

/// A convolution on particular shapes. A row of A is what one output pixel reads; along a filter
/// row that is consecutive in memory, in the image itself or in a padded copy.
class BoundConvolution final : public BoundContraction {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(
      std::shared_ptr<const ConvolutionProgram> program, ir::ShapeTable shapes);

 protected:
  void pack_b(const Launch& launch, int64_t phase, int64_t slot, int64_t begin, int64_t end,
              int worker) const override;
  RowTask row_task(int64_t index) const override;
  RowSource rows_of_a(const Launch& launch, const RowTask& task, int64_t group,
                      int worker) const override;
  int64_t slot_of_b(const RowTask& task, int64_t group) const override;
  void multiply(const Launch& launch, const Product& product) const override;

 private:
  /// Distances in bytes between what neighbouring pixels, rows of pixels and taps read.
  struct Layout {
    int64_t pixel = 0, row = 0, tap[3] = {0, 0, 0};
  };

  void bind(std::shared_ptr<const ConvolutionProgram> program, ir::ShapeTable shapes);
  bool reads_image_directly() const;
  void cut();
  void add_steps();
  PixelBlock block(int64_t index) const;
  bool has_special_filter(const Launch& launch, const Product& product) const;
  void multiply_inside(const Product& product) const;

  std::shared_ptr<const ConvolutionProgram> program_;
  ConvolutionProblem problem_;
  ImageWindow window_;
  Layout layout_of_a_;
  bool is_direct_ = false;
  int64_t channels_ = 0;                        // of a group, padded to whole steps
  int64_t row_blocks_ = 1, column_blocks_ = 1;  // of an image's pixels
  int64_t prologue_offset_ = 0, flags_offset_ = 0;
};

}  // namespace warploom::cpu
