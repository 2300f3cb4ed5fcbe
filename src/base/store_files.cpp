// FileStore: what files there are, and keeping them few.
#include "base/store_files.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/file_store.h"
#include "base/log.h"
#include "base/private_file.h"

namespace warploom::base {

namespace fs = std::filesystem;

bool is_value_name(std::string_view name) {
  return name.size() == 16 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<fs::path> children_of(const fs::path& folder) {
  std::vector<fs::path> children;
  std::error_code error;
  fs::directory_iterator child(folder, error);
  for (; !error && child != fs::directory_iterator(); child.increment(error))
    children.push_back(child->path());
  return children;
}

namespace {

/// Writing one takes far less.
constexpr int64_t kOldTemporary = 600'000'000'000;

/// Sections may have sections, one for each engine for example.
constexpr int kDeepest = 3;

void collect(const fs::path& folder, std::string_view section, int depth,
             std::vector<FileStore::File>& files) {
  const bool is_of_key = is_value_name(folder.filename().string());
  for (const fs::path& path : children_of(folder)) {
    const auto status = status_of(path);
    if (!status) continue;
    if (S_ISDIR(status->st_mode)) {
      if (depth < kDeepest) collect(path, section, depth + 1, files);
    } else if (S_ISREG(status->st_mode) && is_of_key && is_value_name(path.filename().string())) {
      files.push_back(
          {path, std::string(section), disk_bytes(status->st_size), modified_ns(*status)});
    }
  }
}

/// Folders that are not empty stay.
void remove_empty_folders(const fs::path& folder, int depth) {
  for (const fs::path& path : children_of(folder)) {
    const auto status = status_of(path);
    if (!status || !S_ISDIR(status->st_mode)) continue;
    if (depth < kDeepest) remove_empty_folders(path, depth + 1);
    ::rmdir(path.c_str());
  }
}

}  // namespace

std::vector<FileStore::File> FileStore::files() const {
  std::vector<File> files;
  if (check_readable().is_bad()) return files;
  for (std::string_view section : kStoreSections)
    collect(settings_.folder / section, section, 0, files);
  return files;
}

std::vector<FileStore::File> FileStore::trim(int64_t limit_bytes,
                                             std::span<const std::string_view> sections) {
  if (check_writable().is_bad()) return {};
  remove_old_temporaries();
  std::vector<File> files = this->files();
  std::erase_if(files, [&](const File& file) {
    return std::ranges::find(sections, file.section) == sections.end();
  });
  std::ranges::stable_sort(files, {}, &File::last_used_ns);
  int64_t bytes = 0;
  for (const File& file : files) bytes += file.bytes;
  size_t removed = 0;
  for (; bytes > limit_bytes && removed < files.size(); ++removed) {
    ::unlink(files[removed].path.c_str());
    bytes -= files[removed].bytes;
  }
  files.resize(removed);
  for (std::string_view section : sections) remove_empty_folders(settings_.folder / section, 0);
  if (removed > 0)
    log(fmt::format("cache: {} files were removed to stay below {} bytes", removed, limit_bytes));
  return files;
}

void FileStore::remove_old_temporaries() const {
  const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  for (const fs::path& path : children_of(settings_.folder / kTemporaryFolder)) {
    const auto status = status_of(path);
    if (status && S_ISREG(status->st_mode) && is_value_name(path.filename().string()) &&
        now - modified_ns(*status) > kOldTemporary)
      ::unlink(path.c_str());
  }
}

}  // namespace warploom::base
