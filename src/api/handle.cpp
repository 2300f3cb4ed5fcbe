#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <warploom/handle.h>

#include "engines/cpu/isa/isa.h"
#include "engines/cpu/threads/thread_pool.h"

namespace warploom {
namespace {

/// 0: as many as default_thread_count() says.
std::atomic<int> threads_set_by_user = 0;

std::string processor_name() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != line.npos) return line.substr(colon + 2);
  return "CPU";
}

Device cpu_device() {
  Device device;
  device.name = processor_name();
  device.architecture = cpu::isa_name(cpu::active_isa().level);
  device.parallelism = get_num_threads();
  return device;
}

bool is_verification_asked_for() {
  const char* const value = std::getenv("WARPLOOM_VERIFY");
  return value && std::string_view(value) != "" && std::string_view(value) != "0";
}

}  // namespace

struct Handle::State {
  Device device;
  HandleOptions options;
  std::atomic<void*> stream = nullptr;
};

Handle::Handle() : state_(std::make_unique<State>()) {}
Handle::~Handle() = default;

error_t Handle::create(std::unique_ptr<Handle>& handle, const HandleOptions& options) {
  handle.reset();
  Device device = cpu_device();
  if (options.device.value_or(DeviceType::CPU) == DeviceType::CUDA)
    return {error_code_t::INVALID_CUDA_DEVICE,
            fmt::format("This version has no CUDA engines; found: CPU ({}, {})", device.name,
                        device.architecture)};
  if (options.ordinal != 0)
    return {error_code_t::INVALID_VALUE,
            fmt::format("HandleOptions::ordinal: found {}, accepted 0: the CPU is one device",
                        options.ordinal)};
  handle.reset(new Handle);
  handle->state_->device = std::move(device);
  handle->state_->options = options;
  handle->state_->options.device = DeviceType::CPU;
  handle->state_->options.verify |= is_verification_asked_for();
  return {};
}

const Device& Handle::device() const {
  return state_->device;
}
const HandleOptions& Handle::options() const {
  return state_->options;
}
void Handle::set_stream(void* stream) {
  state_->stream = stream;
}
void* Handle::get_stream() const {
  return state_->stream;
}

std::unique_ptr<Handle> create_handle() {
  std::unique_ptr<Handle> handle;
  // The default device is there: nothing can be refused.
  (void)Handle::create(handle);
  return handle;
}

error_t set_num_threads(int threads) {
  if (threads < 1)
    return {error_code_t::INVALID_VALUE,
            fmt::format("set_num_threads: found {}, accepted 1 or more", threads)};
  threads_set_by_user = threads;
  return {};
}

int get_num_threads() {
  const int threads = threads_set_by_user;
  return threads > 0 ? threads : cpu::default_thread_count();
}

}  // namespace warploom
