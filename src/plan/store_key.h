#pragma once

#include <string>

#include <fmt/format.h>
#include <warploom/device.h>
#include <warploom/version.h>

namespace warploom::plan {

/// What kernels, and the times that they take, depend on beside the group.
inline std::string library_and_device(const Device& device) {
  return fmt::format("{} {} \"{}\" {} x{}", version(),
                     device.type == DeviceType::CPU ? "CPU" : "CUDA", device.name,
                     device.architecture, device.parallelism);
}

}  // namespace warploom::plan
