// Plan containers: any bytes are read or refused. What is read is what is written, and its graph is
// planned by the name in it, or anew. Nothing is executed.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <warploom/graph.h>
#include <warploom/version.h>

#include "base/hash.h"
#include "serialize/plan_container.h"

namespace {

using Bytes = std::vector<uint8_t>;
using warploom::serialize::PlanContainer;

uint64_t checksum(const uint8_t* data, size_t size) {
  return warploom::base::Hash()
      .add(std::string_view(reinterpret_cast<const char*>(data), size))
      .value();
}

/// The bytes with what no mutation finds by chance: magic, size and checksums
/// (docs/plan-container.md).
Bytes sealed(Bytes data) {
  constexpr size_t kHeadBytes = 48;
  if (data.size() < kHeadBytes) return data;
  const auto set = [&](size_t offset, uint64_t value) {
    std::memcpy(&data[offset], &value, sizeof value);
  };
  uint64_t graph_size = 0;
  std::memcpy(&graph_size, &data[40], sizeof graph_size);
  std::memcpy(data.data(), "\x89WPL\r\n\x1a\n", 8);
  set(16, data.size());
  if (graph_size <= data.size() - kHeadBytes) set(32, checksum(&data[kHeadBytes], graph_size));
  set(8, checksum(&data[16], data.size() - 16));
  return data;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static warploom::Handle& handle = *[] {
    // So that the corpus holds plans of the machine it runs on.
    setenv("WARPLOOM_CPU_ISA", "generic", 1);
    return warploom::create_handle().release();
  }();
  PlanContainer container;
  (void)warploom::serialize::read_plan_container({data, size}, container);
  const Bytes whole = sealed(Bytes(data, data + size));
  if (warploom::serialize::read_plan_container(whole, container).is_bad()) return 0;
  if (warploom::serialize::write_plan_container(container) != whole) std::abort();

  container.library_version = warploom::version();
  container.device_type = handle.device().type;
  container.architecture = handle.device().architecture;
  warploom::graph::Graph graph;
  if (graph
          .deserialize(&handle, warploom::serialize::write_plan_container(container),
                       {.trust_payload = false, .rebuild_if_unsuitable = true})
          .is_good() &&
      graph.get_execution_plan_count() < 1)
    std::abort();
  return 0;
}
