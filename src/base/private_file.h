#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <warploom/error.h>

namespace warploom::base {

// Files and folders that nobody but this user may have written.

/// OK for a folder of this user's or root's that nobody else may write in.
error_t check_private_folder(const std::filesystem::path& folder);
/// Makes it and what it lies in, mode 0700.
error_t make_private_folder(const std::filesystem::path& folder);
/// Whether that would work, for a folder that is not there; makes nothing.
error_t check_can_make_folder(const std::filesystem::path& folder);

struct FileContent {
  std::vector<std::byte> bytes;
  int error = 0;  ///< errno
};
/// Of a regular file of at most `most_bytes`; links are not followed. Marks it as used now where
/// `marks_use` and that was long ago.
FileContent read_private_file(const std::filesystem::path& path, int64_t most_bytes,
                              bool marks_use);
/// A new file, mode 0600; nothing is left of it when that fails. Gives errno.
int write_private_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Of the thing itself, not of what a link leads to; nothing when it is gone.
std::optional<struct stat> status_of(const std::filesystem::path& path);
int64_t modified_ns(const struct stat& status);

/// "Permission denied".
std::string error_text(int error);

/// 64 random bits in hexadecimal.
std::string random_name();

}  // namespace warploom::base
