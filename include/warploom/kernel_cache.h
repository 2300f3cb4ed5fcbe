#pragma once
/// Kernels shared between graphs that differ in nothing but their shapes.
#include <memory>
#include <string>

#include <warploom/error.h>

namespace warploom {

/// Handed to Graph::set_kernel_cache() of every graph that takes part, each with
/// set_dynamic_shape_enabled(true): a graph whose key() the cache knows is planned by binding the
/// kernels that are there to its shapes, microseconds, without asking or building anything. May be
/// used by many threads and outlive its graphs.
class WARPLOOM_EXPORT KernelCache {
 public:
  KernelCache();
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  /// Whether a graph has been built with this cache, or one was read from JSON.
  bool is_finalized() const;
  /// OK; errors of the cache are those of the calls that meet them.
  error_t status() const;
  /// The plans chosen for each graph, and their kernels where building them costs time.
  error_t to_json(std::string& text) const;
  /// Into a cache that is not finalized, else INVALID_VALUE. UNSUPPORTED_GRAPH_FORMAT says what is
  /// wrong with the text.
  error_t from_json(const std::string& text);

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace warploom
