#include "plan/kernel_store.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/log.h"
#include "plan/plan_name.h"
#include "plan/store_key.h"

namespace warploom::plan {
namespace {

/// A folder for each engine. A user's may have any name.
std::string section_of(const std::string& engine) {
  const bool is_plain =
      engine.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-") == std::string::npos &&
      engine.size() < 100 && engine[0] != '.';
  return fmt::format("{}/{}", base::kKernelSection,
                     is_plain ? engine : fmt::format("{:016x}", base::Hash().add(engine).value()));
}

}  // namespace

bool KernelStore::has_kernels(const std::string& section) {
  const std::lock_guard lock(mutex_);
  if (asked_.insert(section).second && store_.has_section(section)) saved_.insert(section);
  return saved_.contains(section);
}

Result<std::unique_ptr<const engine::Kernel>> KernelStore::load_or_build(
    const engine::Engine& engine, const fusion::FusionGroup& group,
    const engine::Candidate& candidate, const Device& device) {
  if (store_.settings().access == base::StoreAccess::kOff)
    return engine.build(group, candidate, device);
  const std::string section = section_of(candidate.engine);
  std::string key;
  const auto make_key = [&] {
    if (key.empty())
      key = fmt::format("kernel {} {}\n{}", step_name(candidate), library_and_device(device),
                        fusion::signature(group));
  };
  if (has_kernels(section)) {
    make_key();
    if (const auto saved = store_.get(section, key)) {
      auto kernel = engine.load(group, candidate, *saved, device);
      if (kernel.is_good() && kernel.value()) return kernel;
      base::log(fmt::format("cache: {} is built again, what was saved does not load: {}",
                            step_name(candidate), kernel.error().err_msg));
    }
  }
  auto kernel = engine.build(group, candidate, device);
  if (kernel.is_bad() || !kernel.value()) return kernel;
  const std::vector<std::byte> saved = kernel.value()->save();
  if (saved.empty()) return kernel;
  make_key();
  if (store_.put(section, key, saved)) {
    const std::lock_guard lock(mutex_);
    saved_.insert(section);
  }
  return kernel;
}

KernelStore& process_kernel_store() {
  // Never destroyed, for the reason that the store is not.
  static KernelStore& store = *new KernelStore(base::process_store());
  return store;
}

}  // namespace warploom::plan
