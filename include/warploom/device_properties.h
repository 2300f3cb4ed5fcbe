#pragma once
/// A device to plan for that need not be there.
#include <cstdint>
#include <optional>
#include <vector>

#include <warploom/device.h>
#include <warploom/error.h>
#include <warploom/handle.h>

namespace warploom {

/// Built on the target, or read from what was built there; then given to
/// Graph::set_device_properties() of graphs that are built without a handle. Their plans are
/// serialized and run on the target.
class WARPLOOM_EXPORT DeviceProperties {
 public:
  /// The device of its kind; there is one CPU.
  DeviceProperties& set_device_id(int32_t id = 0);
  /// The device of this handle; else the default device.
  DeviceProperties& set_handle(handle_t handle);
  error_t build();
  error_t serialize(std::vector<uint8_t>& data) const;
  /// INVALID_VALUE where properties are there already; UNSUPPORTED_GRAPH_FORMAT for other data.
  error_t deserialize(const std::vector<uint8_t>& data);
  /// OK once built or read, else ATTRIBUTE_NOT_SET.
  error_t status() const;
  /// Nothing until then.
  const std::optional<Device>& device() const { return device_; }

 private:
  int32_t id_ = 0;
  handle_t handle_ = nullptr;
  std::optional<Device> device_;
};

}  // namespace warploom
