#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/file_store.h"
#include "base/private_file.h"
#include "base/store_entry.h"
#include "tools/commands.h"

namespace warploom::tools {
namespace {

using base::FileStore;
using Files = std::vector<FileStore::File>;

std::vector<std::string_view> sections(const CacheOptions& options) {
  std::vector<std::string_view> sections;
  if (options.tuning || !options.kernels) sections.push_back(base::kTuningSection);
  if (options.kernels || !options.tuning) sections.push_back(base::kKernelSection);
  return sections;
}

int64_t bytes_of(const Files& files) {
  int64_t bytes = 0;
  for (const FileStore::File& file : files) bytes += file.bytes;
  return bytes;
}

std::string age_text(int64_t since_ns) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now - std::chrono::nanoseconds(since_ns))
          .count();
  if (seconds < 60) return fmt::format("{} s", std::max<int64_t>(seconds, 0));
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} d", seconds / 86400);
}

/// What an entry is for: the first operation of its key.
std::string subject(const FileStore::File& file) {
  const base::FileContent content = base::read_private_file(file.path, file.bytes, false);
  const auto entry = base::parse_store_entry(content.bytes);
  if (entry.is_bad()) return entry.error().err_msg;
  const std::string_view key = entry.value().key;
  const std::string_view operations = key.substr(std::min(key.find('\n'), key.size() - 1) + 1);
  return std::string(operations.substr(0, std::min(operations.find('\n'), size_t{70})));
}

/// A folder that is not there yet is as good as an empty one, if it can be made.
error_t usability(const FileStore& store) {
  const base::StoreSettings& settings = store.settings();
  if (settings.access == base::StoreAccess::kOff || base::status_of(settings.folder))
    return store.check_readable();
  return settings.access == base::StoreAccess::kReadWrite
             ? base::check_can_make_folder(settings.folder)
             : error_t();
}

error_t list(const FileStore& store, const CacheOptions& options) {
  const base::StoreSettings& settings = store.settings();
  fmt::print("folder  {}\n", settings.folder.string());
  for (const std::string& setting : settings.ignored) fmt::print("ignored {}\n", setting);
  if (const error_t unusable = usability(store); unusable.is_bad()) {
    fmt::print("unused  {}\n", unusable.err_msg);
    return {};
  }
  fmt::print("limit   {} bytes{}\n\n", settings.limit_bytes,
             settings.access == base::StoreAccess::kReadOnly ? ", read only" : "");
  const Files all = store.files();
  fmt::print("{:<8}  {:>8}  {:>12}  {:>10}  {:>10}\n", "store", "entries", "bytes", "last used",
             "oldest");
  for (const std::string_view section : sections(options)) {
    Files files;
    std::copy_if(all.begin(), all.end(), std::back_inserter(files),
                 [&](const FileStore::File& file) { return file.section == section; });
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.last_used_ns > b.last_used_ns; });
    fmt::print("{:<8}  {:>8}  {:>12}  {:>10}  {:>10}\n", section, files.size(), bytes_of(files),
               files.empty() ? "-" : age_text(files.front().last_used_ns),
               files.empty() ? "-" : age_text(files.back().last_used_ns));
    if (!options.entries) continue;
    for (const FileStore::File& file : files)
      fmt::print("{:<8}  {:>8}  {:>12}  {:>10}  {}\n", "", "", file.bytes,
                 age_text(file.last_used_ns), printable(subject(file)));
  }
  return {};
}

error_t trim(FileStore& store, const CacheOptions& options) {
  std::error_code error;
  if (store.settings().access == base::StoreAccess::kReadWrite &&
      !std::filesystem::exists(store.settings().folder, error)) {
    fmt::print("nothing is kept in {}\n", store.settings().folder.string());
    return {};
  }
  CHECK_WARPLOOM_ERROR(store.check_writable());
  const Files removed = store.trim(options.limit, sections(options));
  fmt::print("removed {} entries, {} bytes\n", removed.size(), bytes_of(removed));
  return {};
}

}  // namespace

int cache(const CacheOptions& options) {
  FileStore& store = base::process_store();
  return report(options.removes ? trim(store, options) : list(store, options));
}

}  // namespace warploom::tools
