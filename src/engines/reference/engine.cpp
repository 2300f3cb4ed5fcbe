#include "engines/reference/engine.h"

#include "engines/reference/cost.h"
#include "engines/reference/program.h"

namespace warploom::engines::reference {
namespace {

constexpr const char* kName = "reference";

class ReferenceBoundKernel final : public engine::BoundKernel {
 public:
  explicit ReferenceBoundKernel(std::shared_ptr<const Program> program)
      : program_(std::move(program)) {}

  int64_t workspace_bytes() const override { return program_->workspace_bytes(); }
  std::vector<engine::WorkspacePart> workspace_parts() const override {
    return program_->workspace_parts();
  }
  error_t launch(void*, std::span<void* const> pointers, void* workspace) const noexcept override {
    program_->run(pointers, static_cast<std::byte*>(workspace));
    return {};
  }

 private:
  std::shared_ptr<const Program> program_;
};

class ReferenceKernel final : public engine::Kernel {
 public:
  explicit ReferenceKernel(const fusion::FusionGroup& group) : group_(group) {}

  Result<std::unique_ptr<const engine::BoundKernel>> bind(ir::ShapeTable shapes) const override {
    auto program = Program::make(group_, shapes);
    if (program.is_bad()) return program.error();
    return std::unique_ptr<const engine::BoundKernel>(
        std::make_unique<ReferenceBoundKernel>(program.value()));
  }

 private:
  fusion::FusionGroup group_;
};

std::vector<ir::Shape> shapes_of(const ir::FrozenGraph& graph) {
  std::vector<ir::Shape> shapes;
  for (const ir::Tensor& tensor : graph.tensors) shapes.push_back(tensor.shape);
  return shapes;
}

class ReferenceEngine final : public engine::Engine {
 public:
  engine::EngineInfo info() const override {
    engine::EngineInfo info;
    info.name = kName;
    info.device = DeviceType::CPU;
    info.is_last_resort = true;
    return info;
  }

  engine::Verdict supports(const fusion::FusionGroup&, const Device& device) const override {
    if (device.type == DeviceType::CPU) return engine::Verdict::yes();
    return engine::Verdict::no({.rule = "the reference engine runs on the CPU",
                                .node = ir::kNoNode,
                                .tensor = ir::kNoTensor,
                                .found = "device " + device.name,
                                .accepted = "a CPU"});
  }

  Result<std::vector<engine::Candidate>> candidates(const fusion::FusionGroup& group,
                                                    const Device&) const override {
    auto program = Program::make(group, shapes_of(*group.graph));
    if (program.is_bad()) return program.error();
    engine::Candidate candidate;
    candidate.engine = kName;
    candidate.workspace_bytes = program.value()->workspace_bytes();
    candidate.predicted_microseconds = predicted_microseconds(group);
    candidate.numerical_notes = {NumericalNote_t::STRICT_NAN_PROP};
    return std::vector{candidate};
  }

  Result<std::unique_ptr<const engine::Kernel>> build(const fusion::FusionGroup& group,
                                                      const engine::Candidate&,
                                                      const Device&) const override {
    return std::unique_ptr<const engine::Kernel>(std::make_unique<ReferenceKernel>(group));
  }
};

}  // namespace

std::shared_ptr<const engine::Engine> make_engine() {
  return std::make_shared<ReferenceEngine>();
}

}  // namespace warploom::engines::reference
