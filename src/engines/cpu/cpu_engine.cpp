#include "engines/cpu/cpu_engine.h"

#include <algorithm>

namespace warploom::cpu {

Result<std::unique_ptr<const engine::BoundKernel>> CpuKernel::bind(ir::ShapeTable shapes) const {
  auto bound = bind_shapes(shapes);
  if (bound.is_bad()) return bound.error();
  return std::unique_ptr<const engine::BoundKernel>(std::move(bound).value());
}

Result<std::vector<engine::Candidate>> CpuEngine::candidates(const fusion::FusionGroup& group,
                                                             const Device& device) const {
  const Machine machine = machine_for(device);
  const std::vector<ir::Shape> shapes = declared_shapes(group);
  std::vector<engine::Candidate> result;
  for (engine::KnobSettings& knobs : configurations(group, device)) {
    auto kernel = make_kernel(group, knobs, machine);
    if (kernel.is_bad()) return kernel.error();
    auto bound = kernel.value()->bind_shapes(shapes);
    if (bound.is_bad()) return bound.error();
    engine::Candidate candidate;
    candidate.engine = info().name;
    candidate.knobs = std::move(knobs);
    candidate.workspace_bytes = bound.value()->workspace_bytes();
    candidate.predicted_microseconds = bound.value()->predicted_microseconds();
    result.push_back(std::move(candidate));
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.predicted_microseconds < b.predicted_microseconds;
  });
  return result;
}

Result<std::unique_ptr<const engine::Kernel>> CpuEngine::build(const fusion::FusionGroup& group,
                                                               const engine::Candidate& candidate,
                                                               const Device& device) const {
  auto kernel = make_kernel(group, candidate.knobs, machine_for(device));
  if (kernel.is_bad()) return kernel.error();
  return std::unique_ptr<const engine::Kernel>(std::move(kernel).value());
}

std::vector<engine::KnobSettings> CpuEngine::configurations(const fusion::FusionGroup&,
                                                            const Device&) const {
  return {engine::KnobSettings{}};
}

int64_t knob_value(const engine::KnobSettings& knobs, KnobType_t type, int64_t otherwise) {
  for (const auto& [knob, value] : knobs)
    if (knob == type) return value;
  return otherwise;
}

std::vector<ir::Shape> declared_shapes(const fusion::FusionGroup& group) {
  std::vector<ir::Shape> shapes;
  for (const ir::Tensor& tensor : group.graph->tensors) shapes.push_back(tensor.shape);
  return shapes;
}

engine::Verdict refuse(std::string_view rule, ir::NodeId node, ir::TensorId tensor,
                       std::string found, std::string accepted) {
  engine::Refusal refusal;
  refusal.rule = rule;
  refusal.node = node;
  refusal.tensor = tensor;
  refusal.found = std::move(found);
  refusal.accepted = std::move(accepted);
  return engine::Verdict::no(std::move(refusal));
}

}  // namespace warploom::cpu
