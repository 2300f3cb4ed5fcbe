#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warploom::base {

enum class StoreAccess { kOff, kReadOnly, kReadWrite };

/// Where files are kept between processes, and what may be done with them.
struct StoreSettings {
  StoreAccess access = StoreAccess::kOff;
  std::filesystem::path folder;
  int64_t limit_bytes = 0;  ///< on the disk; what was used longest ago goes first
  std::string why_off;      ///< for people
  /// Settings that mean nothing and count as unset, for people.
  std::vector<std::string> ignored;
};

inline constexpr int64_t kDefaultStoreLimit = int64_t{1} << 30;

/// From the environment: WARPLOOM_CACHE, WARPLOOM_CACHE_DIR, WARPLOOM_CACHE_LIMIT; see
/// docs/caches.md. A value that means nothing is logged and counts as unset.
StoreSettings store_settings();

}  // namespace warploom::base
