#include "plan/tuning_memory.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace warploom::plan {

void TuningMemory::record(std::string_view problem, std::string_view offer, double microseconds) {
  const std::lock_guard lock(mutex_);
  times_[{std::string(problem), std::string(offer)}] = microseconds;
}

double TuningMemory::find(std::string_view problem, std::string_view offer) const {
  const std::lock_guard lock(mutex_);
  const auto found = times_.find({std::string(problem), std::string(offer)});
  return found == times_.end() ? 0 : found->second;
}

std::string problem_key(const fusion::FusionGroup& group, const Device& device) {
  base::Hash shapes;
  auto add = [&](ir::TensorId id) {
    if (id == ir::kNoTensor) return;
    shapes.add(group.tensor(id).shape.dims).add(group.tensor(id).shape.strides);
  };
  for (ir::NodeId node : group.nodes) {
    for (ir::TensorId input : group.node(node).inputs) add(input);
    for (ir::TensorId output : group.node(node).outputs) add(output);
  }
  return fmt::format("{} {} x{} {:016x} {}", device.name, device.architecture, device.parallelism,
                     shapes.value(), fusion::signature(group));
}

}  // namespace warploom::plan
