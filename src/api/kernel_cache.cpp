#include <warploom/kernel_cache.h>

namespace warploom {

struct KernelCache::State {};

KernelCache::KernelCache() : state_(std::make_unique<State>()) {}
KernelCache::~KernelCache() = default;

bool KernelCache::is_finalized() const {
  return false;
}

error_t KernelCache::status() const {
  return {};
}

error_t KernelCache::to_json(std::string&) const {
  return {error_code_t::GRAPH_NOT_SUPPORTED, "KernelCache::to_json is not supported yet"};
}

error_t KernelCache::from_json(const std::string&) {
  return {error_code_t::GRAPH_NOT_SUPPORTED, "KernelCache::from_json is not supported yet"};
}

}  // namespace warploom
