#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_store.h"

namespace warploom::test {

/// An empty folder, mode 0700, that goes when the object does.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

base::StoreSettings settings_for(const std::filesystem::path& folder,
                                 base::StoreAccess access = base::StoreAccess::kReadWrite,
                                 int64_t limit_bytes = base::kDefaultStoreLimit);

using Bytes = std::vector<std::byte>;
Bytes bytes_of(std::string_view text);
std::string text_of(const Bytes& bytes);
/// get() as text; "(nothing)" where there is nothing.
std::string get_text(const base::FileStore& store, std::string_view key);

Bytes read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const Bytes& bytes);

/// Every file below the folder, whatever it is.
std::vector<std::filesystem::path> all_files(const std::filesystem::path& folder);

}  // namespace warploom::test
