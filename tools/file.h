#pragma once
/// Whole files: read within a limit, written so that no half of one is ever seen.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <warploom/error.h>

namespace warploom::tools {

/// Nothing that is read as a whole is larger: graphs are small, tensors are read piece by piece.
inline constexpr std::uintmax_t kMostTextBytes = 64u << 20;

/// The size of a regular file; INVALID_VALUE, saying why, for anything else.
Result<std::uintmax_t> size_of_file(const std::filesystem::path& path);

Result<std::string> read_text(const std::filesystem::path& path);

/// Writes beside `path` and renames over it, so that a failure leaves what was there. A target that
/// is no regular file (a terminal, /dev/null) is written to directly.
error_t write_file(const std::filesystem::path& path,
                   std::span<const std::span<const std::byte>> parts);
error_t write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace warploom::tools
