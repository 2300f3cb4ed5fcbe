#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <warploom/error.h>

namespace warploom::base {

/// Grows when files of a store are laid out differently.
inline constexpr uint64_t kStoreFormatVersion = 1;

/// What a file of a store holds. Its layout: "WRPLSTOR", then numbers of eight bytes, the lowest
/// first: format version, checksum of what follows, length of the key, the key, length of the
/// value, the value.
struct StoreEntry {
  std::string_view key;
  std::span<const std::byte> value;
};

std::vector<std::byte> encode_store_entry(const StoreEntry& entry);

/// A view into `file`. UNSUPPORTED_GRAPH_FORMAT says why it is none: foreign, of another version,
/// or damaged.
Result<StoreEntry> parse_store_entry(std::span<const std::byte> file);

}  // namespace warploom::base
