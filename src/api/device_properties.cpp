#include <warploom/device_properties.h>

#include <fmt/format.h>

#include "base/byte_stream.h"

namespace warploom {
namespace {

constexpr std::string_view kFormat = "warploom-device 1";

}  // namespace

DeviceProperties& DeviceProperties::set_device_id(int32_t id) {
  id_ = id;
  return *this;
}

DeviceProperties& DeviceProperties::set_handle(handle_t handle) {
  handle_ = handle;
  return *this;
}

error_t DeviceProperties::build() {
  std::unique_ptr<Handle> own;
  HandleOptions options;
  options.ordinal = id_;
  if (!handle_) CHECK_WARPLOOM_ERROR(Handle::create(own, options));
  device_ = (handle_ ? handle_ : own.get())->device();
  return {};
}

error_t DeviceProperties::serialize(std::vector<uint8_t>& data) const {
  CHECK_WARPLOOM_ERROR(status());
  const auto bytes = base::ByteWriter()
                         .add(kFormat)
                         .add(static_cast<uint64_t>(device_->type))
                         .add(int64_t{device_->ordinal})
                         .add(std::string_view(device_->name))
                         .add(std::string_view(device_->architecture))
                         .add(int64_t{device_->parallelism})
                         .take();
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  data.assign(first, first + bytes.size());
  return {};
}

error_t DeviceProperties::deserialize(const std::vector<uint8_t>& data) {
  if (device_)
    return {error_code_t::INVALID_VALUE,
            "DeviceProperties::deserialize: these properties are built already; use new ones"};
  base::ByteReader reader(std::as_bytes(std::span(data)));
  const bool is_format = reader.text() == kFormat;
  Device device;
  const uint64_t type = reader.number();
  device.type = static_cast<DeviceType>(type);
  const int64_t ordinal = reader.signed_number();
  device.name = reader.text();
  device.architecture = reader.text();
  const int64_t parallelism = reader.signed_number();
  if (!is_format || !reader.is_good() || !reader.rest().empty() ||
      type > static_cast<uint64_t>(DeviceType::CUDA) || ordinal < 0 || ordinal > INT32_MAX ||
      parallelism < 1 || parallelism > INT32_MAX)
    return {error_code_t::UNSUPPORTED_GRAPH_FORMAT,
            fmt::format("DeviceProperties::deserialize: found {} bytes, accepted what "
                        "DeviceProperties::serialize of this version wrote",
                        data.size())};
  device.ordinal = static_cast<int>(ordinal);
  device.parallelism = static_cast<int32_t>(parallelism);
  device_ = std::move(device);
  return {};
}

error_t DeviceProperties::status() const {
  if (device_) return {};
  return {error_code_t::ATTRIBUTE_NOT_SET,
          "DeviceProperties: no device yet; call build() or deserialize() first"};
}

}  // namespace warploom
