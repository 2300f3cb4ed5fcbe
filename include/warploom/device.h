#pragma once
#include <cstdint>
#include <string>

#include <warploom/export.h>

namespace warploom {

enum class DeviceType { CPU, CUDA };

/// Facts about the device a plan is made for. Engines decide from these alone, so a plan can be
/// made where the device is not.
struct Device {
  DeviceType type = DeviceType::CPU;
  int ordinal = 0;
  std::string name;
  /// CPU: the instruction set level in use ("generic", "avx2", "avx512", "avx512bf16"). CUDA:
  /// "sm_90a" and so on.
  std::string architecture;
  /// CPU: threads that kernels use. CUDA: streaming multiprocessors.
  int32_t parallelism = 1;
};

}  // namespace warploom
