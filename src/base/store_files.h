#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace warploom::base {

/// Where files are written before they are renamed, in a store's folder.
inline constexpr std::string_view kTemporaryFolder = "temporary";

/// Whether a store may have made it: 16 hexadecimal digits. Nothing else is ever touched.
bool is_value_name(std::string_view name);

/// What is in a folder; nothing when it cannot be read.
std::vector<std::filesystem::path> children_of(const std::filesystem::path& folder);

/// What a file of this size takes, on most file systems.
constexpr int64_t disk_bytes(int64_t size) {
  constexpr int64_t kBlock = 4096;
  return (size + kBlock - 1) / kBlock * kBlock;
}

}  // namespace warploom::base
