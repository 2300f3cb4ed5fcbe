#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warploom/device.h>
#include <warploom/error.h>

namespace warploom::serialize {

/// What a plan container holds; docs/plan-container.md has the bytes.
struct PlanContainer {
  std::string graph_json;
  std::string library_version;
  DeviceType device_type = DeviceType::CPU;
  std::string architecture;  ///< of the device, as Device has it
  std::string plan_name;     ///< in full
  /// What Kernel::save() gave, for each of the plan's kernels.
  std::vector<std::vector<std::byte>> payloads;

  bool operator==(const PlanContainer&) const = default;
};

/// Whether bytes begin like one.
bool is_plan_container(std::string_view data);

std::vector<uint8_t> write_plan_container(const PlanContainer& container);

/// Takes any bytes, and no more memory than they have. UNSUPPORTED_GRAPH_FORMAT says whether they
/// are something else, incomplete, damaged, or of another version of the format. `graph_json` is
/// read wherever it is intact, and empty where it is not; the rest is read when all is well.
error_t read_plan_container(std::span<const uint8_t> data, PlanContainer& container);

/// UNSUPPORTED_GRAPH_FORMAT when the plan is of another library version or kind of device.
error_t check_suitable(const PlanContainer& container, const Device& device);

}  // namespace warploom::serialize
