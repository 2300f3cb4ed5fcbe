#include "plan/kernel.h"

#include <atomic>

#include "plan/kernel_store.h"

namespace warploom::plan {
namespace {

std::atomic<int64_t> made_count = 0;

Result<std::shared_ptr<const engine::Kernel>> make(const fusion::FusionGroup& group,
                                                   const Offer& offer, const Device& device) {
  made_count.fetch_add(1, std::memory_order_relaxed);
  const engine::Engine& engine = *offer.engine;
  auto kernel = offer.payload.empty()
                    ? process_kernel_store().load_or_build(engine, group, offer.candidate, device)
                    : engine.load(group, offer.candidate, offer.payload, device);
  CHECK_WARPLOOM_ERROR(kernel.error());
  // Engines may be a user's.
  if (!kernel.value())
    return error_t{error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
                   "the engine returned no kernel and no error"};
  return std::shared_ptr<const engine::Kernel>(std::move(kernel).value());
}

}  // namespace

Result<std::shared_ptr<const engine::Kernel>> kernel_of(const fusion::FusionGroup& group,
                                                        Offer& offer, const Device& device) {
  const std::lock_guard lock(offer.mutex);
  if (!offer.kernel) offer.kernel = make(group, offer, device);
  return *offer.kernel;
}

int64_t made_kernel_count() {
  return made_count.load(std::memory_order_relaxed);
}

}  // namespace warploom::plan
