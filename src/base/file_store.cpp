#include "base/file_store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/private_file.h"
#include "base/store_entry.h"
#include "base/store_files.h"

namespace warploom::base {
namespace {

namespace fs = std::filesystem;

/// Kernels and tables of times are far smaller.
constexpr int64_t kMostFileBytes = int64_t{64} << 20;
/// Under one key; writers keep it far lower.
constexpr size_t kMostValues = 1024;
/// That of put().
const std::string kOnlyName = "0000000000000000";

void log_skipped(const fs::path& path, std::string_view why) {
  log(fmt::format("cache: skipped {}: {}", path.string(), why));
}

}  // namespace

error_t FileStore::check_readable() const {
  if (settings_.access == StoreAccess::kOff)
    return {error_code_t::INVALID_VALUE, settings_.why_off};
  return check_private_folder(settings_.folder);
}

error_t FileStore::check_writable() const {
  if (settings_.access == StoreAccess::kReadOnly)
    return {error_code_t::INVALID_VALUE, "WARPLOOM_CACHE is readonly"};
  if (settings_.access == StoreAccess::kReadWrite)
    CHECK_WARPLOOM_ERROR(make_private_folder(settings_.folder));
  CHECK_WARPLOOM_ERROR(check_readable());
  if (::access(settings_.folder.c_str(), W_OK) == 0) return {};
  return {error_code_t::INVALID_VALUE,
          fmt::format("{}: {}", settings_.folder.string(), error_text(errno))};
}

fs::path FileStore::folder_of(std::string_view section, std::string_view key) const {
  // Another format's files have other names, so that versions do not overwrite each other's.
  const uint64_t hash = Hash().add(kStoreFormatVersion).add(key).value();
  return settings_.folder / section / fmt::format("{:016x}", hash);
}

bool FileStore::has_section(std::string_view section) const {
  return settings_.access != StoreAccess::kOff && status_of(settings_.folder / section);
}

std::optional<FileStore::Bytes> FileStore::get(std::string_view section,
                                               std::string_view key) const {
  if (check_readable().is_bad()) return std::nullopt;
  bool has_vanished = false;
  return read(folder_of(section, key) / kOnlyName, key, has_vanished);
}

std::vector<FileStore::Value> FileStore::get_all(std::string_view section,
                                                 std::string_view key) const {
  if (check_readable().is_bad()) return {};
  const fs::path folder = folder_of(section, key);
  // A file that is listed but gone was merged into one that is perhaps not in this listing.
  for (int attempt = 0;; ++attempt) {
    std::vector<Value> values;
    bool has_vanished = false;
    for (const fs::path& path : children_of(folder)) {
      if (!is_value_name(path.filename().string()) || values.size() == kMostValues) continue;
      if (auto bytes = read(path, key, has_vanished))
        values.push_back({path.filename().string(), *std::move(bytes)});
    }
    if (!has_vanished || attempt == 16) return values;
  }
}

std::optional<FileStore::Bytes> FileStore::read(const fs::path& path, std::string_view key,
                                                bool& has_vanished) const {
  const int64_t most_bytes = std::min(kMostFileBytes, settings_.limit_bytes);
  const FileContent file =
      read_private_file(path, most_bytes, settings_.access == StoreAccess::kReadWrite);
  if (file.error == ENOENT) {
    has_vanished = true;
    return std::nullopt;
  }
  if (file.error != 0) {
    log_skipped(path, error_text(file.error));
    return std::nullopt;
  }
  const auto entry = parse_store_entry(file.bytes);
  if (entry.is_bad()) {
    log_skipped(path, entry.error().err_msg);
    return std::nullopt;
  }
  if (entry.value().key != key) {
    log_skipped(path, "of another key with the same hash");
    return std::nullopt;
  }
  const auto value = entry.value().value;
  return Bytes(value.begin(), value.end());
}

bool FileStore::put(std::string_view section, std::string_view key,
                    std::span<const std::byte> value) {
  return write(folder_of(section, key) / kOnlyName, key, value);
}

bool FileStore::add(std::string_view section, std::string_view key,
                    std::span<const std::byte> value) {
  return write(folder_of(section, key) / random_name(), key, value);
}

bool FileStore::write(const fs::path& path, std::string_view key,
                      std::span<const std::byte> value) {
  // Nobody wonders why nothing is kept where that was asked for.
  if (settings_.access != StoreAccess::kReadWrite) return false;
  const auto failed = [&](std::string_view why) {
    log(fmt::format("cache: {} is not written: {}", path.string(), why));
    return false;
  };
  if (const error_t error = check_writable(); error.is_bad()) return failed(error.err_msg);
  const Bytes bytes = encode_store_entry({key, value});
  if (disk_bytes(static_cast<int64_t>(bytes.size())) > settings_.limit_bytes ||
      static_cast<int64_t>(bytes.size()) > kMostFileBytes)
    return failed(fmt::format("{} bytes are too many", bytes.size()));

  const fs::path temporary_folder = settings_.folder / kTemporaryFolder;
  if (const error_t error = make_private_folder(temporary_folder); error.is_bad())
    return failed(error.err_msg);
  const fs::path temporary = temporary_folder / random_name();
  if (const int error = write_private_file(temporary, bytes); error != 0)
    return failed(error_text(error));
  // Whoever trims removes empty folders, perhaps this one just after it was made.
  for (int attempt = 0; attempt < 16; ++attempt) {
    if (::rename(temporary.c_str(), path.c_str()) == 0) {
      keep_bounded(disk_bytes(static_cast<int64_t>(bytes.size())));
      return true;
    }
    if (errno != ENOENT || make_private_folder(path.parent_path()).is_bad()) break;
  }
  const int error = errno;
  ::unlink(temporary.c_str());
  return failed(error_text(error));
}

void FileStore::remove(std::string_view section, std::string_view key, const std::string& name) {
  if (is_value_name(name)) ::unlink((folder_of(section, key) / name).c_str());
}

void FileStore::keep_bounded(int64_t written_bytes) {
  if (until_upkeep_.fetch_sub(written_bytes) > written_bytes) return;
  // Several processes may each write as much before one of them looks.
  until_upkeep_ = settings_.limit_bytes / 16;
  (void)trim(settings_.limit_bytes, kStoreSections);
}

FileStore& process_store() {
  // Never destroyed: threads that outlive main() may still use it.
  static FileStore& store = *new FileStore(store_settings());
  return store;
}

}  // namespace warploom::base
