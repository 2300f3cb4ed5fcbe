#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include <warploom/engine.h>

namespace warploom::engine {

/// The engines of a process, in the order in which they were added. Safe for concurrent use.
class Registry {
 public:
  explicit Registry(std::vector<std::shared_ptr<const Engine>> engines)
      : engines_(std::move(engines)) {}

  /// See register_engine().
  error_t add(std::shared_ptr<const Engine> engine, int interface_version);
  /// Those for a device of this type; later additions do not change what was returned.
  std::vector<std::shared_ptr<const Engine>> engines(DeviceType device) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Engine>> engines_;
};

}  // namespace warploom::engine
