#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warploom/error.h>

#include "base/store_settings.h"

namespace warploom::base {

/// Small files under one folder, found by the content of a key:
///
///   <folder>/<section>/<hash of the key>/<name>
///
/// Any number of processes, also of several machines, may use it at once without locks: a file is
/// written beside and renamed, so that it is whole or not there, and never changed. Nothing that is
/// found there can do harm: a file that is not what it should be (damaged, foreign, of another
/// format or key) is logged and skipped; a folder that others may write in is not used at all. Safe
/// for concurrent use.
class FileStore {
 public:
  using Bytes = std::vector<std::byte>;
  struct Value {
    std::string name;
    Bytes bytes;
  };

  explicit FileStore(StoreSettings settings) : settings_(std::move(settings)) {}

  const StoreSettings& settings() const { return settings_; }
  /// OK, or why nothing is read (written). Writing makes the folder, mode 0700.
  error_t check_readable() const;
  error_t check_writable() const;

  /// Whether anything was ever kept in this section.
  bool has_section(std::string_view section) const;
  /// The value that put() left.
  std::optional<Bytes> get(std::string_view section, std::string_view key) const;
  /// Replaces it. Failures are logged; true when it is there.
  bool put(std::string_view section, std::string_view key, std::span<const std::byte> value);

  /// Every value under the key, in no order.
  std::vector<Value> get_all(std::string_view section, std::string_view key) const;
  /// One more value under the key.
  bool add(std::string_view section, std::string_view key, std::span<const std::byte> value);
  void remove(std::string_view section, std::string_view key, const std::string& name);

  struct File {
    std::filesystem::path path;
    std::string section;
    int64_t bytes = 0;         ///< on the disk
    int64_t last_used_ns = 0;  ///< since 1970; reading counts, to the hour
  };
  /// Every value there is.
  std::vector<File> files() const;
  /// Removes what was used longest ago until no more than `limit_bytes` are left, and what killed
  /// writers left. Happens by itself with settings().limit_bytes. Gives what was removed.
  std::vector<File> trim(int64_t limit_bytes, std::span<const std::string_view> sections);

 private:
  std::filesystem::path folder_of(std::string_view section, std::string_view key) const;
  std::optional<Bytes> read(const std::filesystem::path& path, std::string_view key,
                            bool& has_vanished) const;
  bool write(const std::filesystem::path& path, std::string_view key,
             std::span<const std::byte> value);
  void keep_bounded(int64_t written_bytes);
  void remove_old_temporaries() const;

  const StoreSettings settings_;
  std::atomic<int64_t> until_upkeep_ = 0;  ///< bytes to write before sizes are looked at again
};

/// The sections that a store has.
inline constexpr std::string_view kKernelSection = "kernels";
inline constexpr std::string_view kTuningSection = "tuning";
inline constexpr std::string_view kStoreSections[] = {kKernelSection, kTuningSection};

/// The store of this process, of the environment's settings when it is first asked for.
FileStore& process_store();

}  // namespace warploom::base
