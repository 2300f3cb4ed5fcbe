#include "serialize/plan_container.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warploom/version.h>

#include "base/hash.h"

namespace warploom::serialize {
namespace {

// As that of PNG: no text, and broken by what takes it for text.
constexpr std::array<uint8_t, 8> kMagic = {0x89, 'W', 'P', 'L', '\r', '\n', 0x1a, '\n'};
constexpr uint64_t kFormatVersion = 1;

// The head, which is the same in every version of the format, and where the graph follows it. The
// checksum comes first of all so that it can guard everything else, the version among it.
constexpr size_t kChecksumAt = 8;
constexpr size_t kGuardedFrom = 16;
constexpr size_t kSizeAt = 16;
constexpr size_t kVersionAt = 24;
constexpr size_t kGraphChecksumAt = 32;
constexpr size_t kGraphSizeAt = 40;
constexpr size_t kHeadBytes = 48;

uint64_t checksum(std::span<const uint8_t> data) {
  return base::Hash()
      .add(std::string_view(reinterpret_cast<const char*>(data.data()), data.size()))
      .value();
}

uint64_t number_at(std::span<const uint8_t> data, size_t offset) {
  uint64_t number = 0;
  for (size_t byte = 0; byte < 8; ++byte) number |= uint64_t{data[offset + byte]} << (8 * byte);
  return number;
}

void set_number_at(std::vector<uint8_t>& data, size_t offset, uint64_t number) {
  for (size_t byte = 0; byte < 8; ++byte)
    data[offset + byte] = static_cast<uint8_t>(number >> (8 * byte));
}

void append_number(std::vector<uint8_t>& data, uint64_t number) {
  data.resize(data.size() + 8);
  set_number_at(data, data.size() - 8, number);
}

template <class Bytes>
void append(std::vector<uint8_t>& data, const Bytes& bytes) {
  const auto* const first = reinterpret_cast<const uint8_t*>(bytes.data());
  data.insert(data.end(), first, first + bytes.size());
}

template <class Bytes>
void append_sized(std::vector<uint8_t>& data, const Bytes& bytes) {
  append_number(data, bytes.size());
  append(data, bytes);
}

error_t refused(std::string_view message) {
  return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, fmt::format("Plan container: {}", message)};
}

/// Reads from the front of what is left; a length is checked before anything is made of it.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> data) : left_(data) {}

  bool number(uint64_t& number) {
    if (left_.size() < 8) return false;
    number = number_at(left_, 0);
    left_ = left_.subspan(8);
    return true;
  }

  /// A length, then as many bytes.
  template <class Bytes>
  bool sized(Bytes& bytes) {
    uint64_t size = 0;
    if (!number(size) || size > left_.size()) return false;
    const auto* const first = reinterpret_cast<const typename Bytes::value_type*>(left_.data());
    bytes.assign(first, first + size);
    left_ = left_.subspan(size);
    return true;
  }

  size_t left() const { return left_.size(); }

 private:
  std::span<const uint8_t> left_;
};

error_t foreign(std::span<const uint8_t> data) {
  if (data.empty()) return refused("there are no data");
  if (data[0] == '{')
    return refused("found what looks like JSON; Graph::from_json() reads a graph's");
  return refused(fmt::format("is none: begins with {:02x}, accepted {:02x}",
                             fmt::join(data.first(std::min(data.size(), kMagic.size())), " "),
                             fmt::join(kMagic, " ")));
}

/// The graph is right behind the head, with a checksum of its own.
void read_graph(std::span<const uint8_t> data, std::string& json) {
  if (data.size() < kHeadBytes) return;
  const uint64_t size = number_at(data, kGraphSizeAt);
  if (size > data.size() - kHeadBytes) return;
  const auto graph = data.subspan(kHeadBytes, size);
  if (checksum(graph) != number_at(data, kGraphChecksumAt)) return;
  json.assign(graph.begin(), graph.end());
}

bool read_plan(Reader reader, PlanContainer& container) {
  uint64_t device_type = 0, count = 0;
  if (!reader.sized(container.library_version) || !reader.number(device_type) ||
      !reader.sized(container.architecture) || !reader.sized(container.plan_name) ||
      !reader.number(count))
    return false;
  if (device_type > static_cast<uint64_t>(DeviceType::CUDA) || count > reader.left() / 8)
    return false;
  container.device_type = static_cast<DeviceType>(device_type);
  container.payloads.resize(count);
  for (auto& payload : container.payloads)
    if (!reader.sized(payload)) return false;
  return reader.left() == 0;
}

std::string_view name_of(DeviceType type) {
  return type == DeviceType::CPU ? "CPU" : "CUDA";
}

}  // namespace

std::vector<uint8_t> write_plan_container(const PlanContainer& container) {
  std::vector<uint8_t> data(kHeadBytes);
  append(data, container.graph_json);
  append_sized(data, container.library_version);
  append_number(data, static_cast<uint64_t>(container.device_type));
  append_sized(data, container.architecture);
  append_sized(data, container.plan_name);
  append_number(data, container.payloads.size());
  for (const auto& payload : container.payloads) append_sized(data, payload);

  std::ranges::copy(kMagic, data.begin());
  const size_t graph_size = container.graph_json.size();
  set_number_at(data, kSizeAt, data.size());
  set_number_at(data, kVersionAt, kFormatVersion);
  set_number_at(data, kGraphSizeAt, graph_size);
  set_number_at(data, kGraphChecksumAt, checksum(std::span(data).subspan(kHeadBytes, graph_size)));
  set_number_at(data, kChecksumAt, checksum(std::span(data).subspan(kGuardedFrom)));
  return data;
}

error_t read_plan_container(std::span<const uint8_t> data, PlanContainer& container) {
  container = {};
  const size_t compared = std::min(data.size(), kMagic.size());
  if (data.empty() || !std::equal(kMagic.begin(), kMagic.begin() + compared, data.begin()))
    return foreign(data);
  read_graph(data, container.graph_json);
  if (data.size() < kHeadBytes)
    return refused(
        fmt::format("is cut off: found {} bytes, its head alone has {}", data.size(), kHeadBytes));
  const uint64_t size = number_at(data, kSizeAt);
  if (data.size() < size)
    return refused(
        fmt::format("is cut off or damaged: found {} bytes, its head says {}", data.size(), size));
  if (data.size() > size)
    return refused(
        fmt::format("is damaged, or something follows it: found {} bytes, its head "
                    "says {}",
                    data.size(), size));
  if (checksum(data.subspan(kGuardedFrom)) != number_at(data, kChecksumAt))
    return refused("is damaged: its checksum is another than that of its bytes");
  const uint64_t version = number_at(data, kVersionAt);
  if (version != kFormatVersion)
    return refused(
        fmt::format("found version {} of the format, accepted {}", version, kFormatVersion));
  PlanContainer read;
  read.graph_json = container.graph_json;
  const uint64_t graph_size = number_at(data, kGraphSizeAt);
  if (graph_size > data.size() - kHeadBytes || read.graph_json.size() != graph_size ||
      !read_plan(Reader(data.subspan(kHeadBytes + graph_size)), read))
    return refused("its parts do not fit together");
  container = std::move(read);
  return {};
}

error_t check_suitable(const PlanContainer& container, const Device& device) {
  if (container.library_version != version())
    return refused(fmt::format("is of version {} of Warploom, this is {}",
                               container.library_version, version()));
  if (container.device_type != device.type || container.architecture != device.architecture)
    return refused(fmt::format("its plan is for {} ({}), the device here is {} ({})",
                               name_of(container.device_type), container.architecture,
                               name_of(device.type), device.architecture));
  return {};
}

}  // namespace warploom::serialize
