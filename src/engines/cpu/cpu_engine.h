#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <warploom/engine.h>

#include "engines/cpu/machine.h"
#include "engines/cpu/workspace_layout.h"

namespace warploom::cpu {

class CpuBoundKernel : public engine::BoundKernel {
 public:
  int64_t workspace_bytes() const final { return layout_.size(); }
  std::vector<engine::WorkspacePart> workspace_parts() const final { return layout_.parts(); }
  virtual double predicted_microseconds() const = 0;

 protected:
  WorkspaceLayout layout_;
};

class CpuKernel : public engine::Kernel {
 public:
  Result<std::unique_ptr<const engine::BoundKernel>> bind(ir::ShapeTable shapes) const final;
  virtual Result<std::unique_ptr<CpuBoundKernel>> bind_shapes(ir::ShapeTable shapes) const = 0;
};

/// A kernel whose bound forms share what was compiled: `Bound` is made of the program and shapes by
/// `Bound::make(std::shared_ptr<const Program>, ir::ShapeTable)`.
template <class Program, class Bound>
class SharedProgramKernel : public CpuKernel {
 public:
  explicit SharedProgramKernel(std::shared_ptr<const Program> program)
      : program_(std::move(program)) {}
  Result<std::unique_ptr<CpuBoundKernel>> bind_shapes(ir::ShapeTable shapes) const final {
    return Bound::make(program_, shapes);
  }

 private:
  std::shared_ptr<const Program> program_;
};

/// What the engines of this folder share: a candidate is a setting of the knobs; its workspace and
/// predicted time are those of the kernel, which is built to find them.
class CpuEngine : public engine::Engine {
 public:
  Result<std::vector<engine::Candidate>> candidates(const fusion::FusionGroup& group,
                                                    const Device& device) const final;
  Result<std::unique_ptr<const engine::Kernel>> build(const fusion::FusionGroup& group,
                                                      const engine::Candidate& candidate,
                                                      const Device& device) const final;

 protected:
  virtual std::vector<engine::KnobSettings> configurations(const fusion::FusionGroup& group,
                                                           const Device& device) const;
  virtual Result<std::unique_ptr<const CpuKernel>> make_kernel(const fusion::FusionGroup& group,
                                                               const engine::KnobSettings& knobs,
                                                               const Machine& machine) const = 0;
};

/// The setting of one knob, or what holds when it is not set.
int64_t knob_value(const engine::KnobSettings& knobs, KnobType_t type, int64_t otherwise);

/// The shapes that the graph was described with, as a ShapeTable.
std::vector<ir::Shape> declared_shapes(const fusion::FusionGroup& group);

/// Refusals that several engines share.
engine::Verdict refuse(std::string_view rule, ir::NodeId node, ir::TensorId tensor,
                       std::string found, std::string accepted);

}  // namespace warploom::cpu
