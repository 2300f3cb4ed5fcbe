#pragma once

#include "engines/cpu/bound_row_gradient.h"

namespace warploom::cpu {

/// bn_finalize: a few numbers for each channel.
class BoundBatchnormFinalize final : public CpuBoundKernel {
 public:
  BoundBatchnormFinalize(std::shared_ptr<const NormGradientProgram> program, ir::ShapeTable shapes);

  double predicted_microseconds() const override;
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept override;

 private:
  std::shared_ptr<const NormGradientProgram> program_;
  RowAxes axes_;
  std::vector<RowTensor> inputs_, outputs_;  // by port
};

}  // namespace warploom::cpu
