#include "serialize/plan_container.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warploom/version.h>

#include "base/byte_stream.h"
#include "base/hash.h"

namespace warploom::serialize {
namespace {

using Bytes = std::span<const std::byte>;

// As that of PNG: no text, and broken by what takes it for text.
constexpr std::array<uint8_t, 8> kMagic = {0x89, 'W', 'P', 'L', '\r', '\n', 0x1a, '\n'};
constexpr uint64_t kFormatVersion = 1;

// The head, which is the same in every version of the format, and where the graph follows it. The
// checksum comes first of all so that it can guard everything else, the version among it.
constexpr size_t kGuardedFrom = 16;
constexpr size_t kHeadBytes = 48;
struct Head {
  uint64_t magic = 0, checksum = 0, size = 0, version = 0, graph_checksum = 0, graph_size = 0;

  explicit Head(base::ByteReader reader)
      : magic(reader.number()),
        checksum(reader.number()),
        size(reader.number()),
        version(reader.number()),
        graph_checksum(reader.number()),
        graph_size(reader.number()) {}
};

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

error_t refused(std::string_view message) {
  return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, fmt::format("Plan container: {}", message)};
}

error_t foreign(std::span<const uint8_t> data) {
  if (data.empty()) return refused("there are no data");
  if (data[0] == '{')
    return refused("found what looks like JSON; Graph::from_json() reads a graph's");
  return refused(fmt::format("is none: begins with {:02x}, accepted {:02x}",
                             fmt::join(data.first(std::min(data.size(), kMagic.size())), " "),
                             fmt::join(kMagic, " ")));
}

/// The graph is right behind the head, with a checksum of its own.
bool read_graph(Bytes data, const Head& head, std::string& json) {
  if (data.size() < kHeadBytes || head.graph_size > data.size() - kHeadBytes) return false;
  const Bytes graph = data.subspan(kHeadBytes, head.graph_size);
  if (base::checksum(graph) != head.graph_checksum) return false;
  json = text_of(graph);
  return true;
}

bool read_plan(base::ByteReader reader, PlanContainer& container) {
  container.library_version = reader.text();
  const uint64_t device_type = reader.number();
  container.architecture = reader.text();
  container.plan_name = reader.text();
  const uint64_t count = reader.number();
  // The length of each is there at least.
  if (device_type > static_cast<uint64_t>(DeviceType::CUDA) || count > reader.rest().size() / 8)
    return false;
  container.device_type = static_cast<DeviceType>(device_type);
  for (uint64_t i = 0; i < count; ++i) {
    const Bytes payload = reader.bytes();
    container.payloads.emplace_back(payload.begin(), payload.end());
  }
  return reader.is_good() && reader.rest().empty();
}

std::string_view name_of(DeviceType type) {
  return type == DeviceType::CPU ? "CPU" : "CUDA";
}

}  // namespace

bool is_plan_container(std::string_view data) {
  const auto byte_of = [](char letter) { return static_cast<uint8_t>(letter); };
  return data.size() >= kMagic.size() &&
         std::ranges::equal(data.substr(0, kMagic.size()), kMagic, {}, byte_of);
}

std::vector<uint8_t> write_plan_container(const PlanContainer& container) {
  base::ByteWriter plan;
  plan.add(container.library_version)
      .add(static_cast<uint64_t>(container.device_type))
      .add(container.architecture)
      .add(container.plan_name)
      .add(uint64_t{container.payloads.size()});
  for (const auto& payload : container.payloads) plan.add(payload);
  const std::vector<std::byte> tail = plan.take();
  const Bytes graph = std::as_bytes(std::span(container.graph_json));

  std::vector<std::byte> guarded = base::ByteWriter()
                                       .add(uint64_t{kHeadBytes + graph.size() + tail.size()})
                                       .add(kFormatVersion)
                                       .add(base::checksum(graph))
                                       .add(uint64_t{graph.size()})
                                       .take();
  guarded.insert(guarded.end(), graph.begin(), graph.end());
  guarded.insert(guarded.end(), tail.begin(), tail.end());

  const std::vector<std::byte> sum = base::ByteWriter().add(base::checksum(guarded)).take();
  std::vector<uint8_t> data(kMagic.begin(), kMagic.end());
  for (Bytes part : {Bytes(sum), Bytes(guarded)}) {
    const auto* const first = reinterpret_cast<const uint8_t*>(part.data());
    data.insert(data.end(), first, first + part.size());
  }
  return data;
}

error_t read_plan_container(std::span<const uint8_t> data, PlanContainer& container) {
  container = {};
  const size_t compared = std::min(data.size(), kMagic.size());
  if (data.empty() || !std::ranges::equal(data.first(compared), std::span(kMagic).first(compared)))
    return foreign(data);
  const Bytes bytes = std::as_bytes(data);
  const Head head{base::ByteReader(bytes)};
  const bool has_graph = read_graph(bytes, head, container.graph_json);
  if (data.size() < kHeadBytes)
    return refused(
        fmt::format("is cut off: found {} bytes, its head alone has {}", data.size(), kHeadBytes));
  if (data.size() < head.size)
    return refused(fmt::format("is cut off or damaged: found {} bytes, its head says {}",
                               data.size(), head.size));
  if (data.size() > head.size)
    return refused(
        fmt::format("is damaged, or something follows it: found {} bytes, its head says {}",
                    data.size(), head.size));
  if (base::checksum(bytes.subspan(kGuardedFrom)) != head.checksum)
    return refused("is damaged: its checksum is another than that of its bytes");
  if (head.version != kFormatVersion)
    return refused(
        fmt::format("found version {} of the format, accepted {}", head.version, kFormatVersion));
  PlanContainer read;
  read.graph_json = container.graph_json;
  if (!has_graph) return refused("its graph is not of the size and checksum that its head says");
  if (!read_plan(base::ByteReader(bytes.subspan(kHeadBytes + head.graph_size)), read))
    return refused("what follows its graph is not a device, a plan's name and saved kernels");
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
