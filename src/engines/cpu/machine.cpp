#include "engines/cpu/machine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace warploom::cpu {
namespace {

IsaLevel isa_level(const std::string& architecture) {
  for (IsaLevel level :
       {IsaLevel::kGeneric, IsaLevel::kAvx2, IsaLevel::kAvx512, IsaLevel::kAvx512Bf16})
    if (architecture == isa_name(level)) return std::min(level, active_isa().level);
  return active_isa().level;
}

// Never destroyed: plans with static storage may still be running kernels at exit.
ThreadPool& shared_pool(int size) {
  static std::mutex mutex;
  static auto& pools = *new std::map<int, std::unique_ptr<ThreadPool>>;
  std::lock_guard lock(mutex);
  auto& pool = pools[size];
  if (!pool) pool = std::make_unique<ThreadPool>(size);
  return *pool;
}

}  // namespace

Machine machine_for(const Device& device) {
  return {&kernel_table(isa_level(device.architecture)),
          &shared_pool(std::max(1, static_cast<int>(device.parallelism)))};
}

}  // namespace warploom::cpu
