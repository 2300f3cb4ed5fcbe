#include "api/kernel_cache_state.h"
#include "serialize/plan_cache_json.h"

namespace warploom {

KernelCache::KernelCache() : state_(std::make_unique<State>()) {}
KernelCache::~KernelCache() = default;

bool KernelCache::is_finalized() const {
  return !state_->plans->is_empty();
}

error_t KernelCache::status() const {
  return {};
}

error_t KernelCache::to_json(std::string& text) const {
  text = serialize::to_json(*state_->plans);
  return {};
}

error_t KernelCache::from_json(const std::string& text) {
  if (is_finalized())
    return {error_code_t::INVALID_VALUE,
            "KernelCache::from_json: the cache is finalized: it has plans already; accepted is a "
            "new one"};
  return serialize::from_json(text, *state_->plans);
}

}  // namespace warploom
