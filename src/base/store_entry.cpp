#include "base/store_entry.h"

#include <fmt/format.h>

#include "base/byte_stream.h"
#include "base/hash.h"

namespace warploom::base {
namespace {

// "WRPLSTOR" as a number.
constexpr uint64_t kMagic = 0x524f54534c505257;

error_t unreadable(std::string why) {
  return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, std::move(why)};
}

}  // namespace

std::vector<std::byte> encode_store_entry(const StoreEntry& entry) {
  std::vector<std::byte> content = ByteWriter().add(entry.key).add(entry.value).take();
  std::vector<std::byte> file =
      ByteWriter().add(kMagic).add(kStoreFormatVersion).add(checksum(content)).take();
  file.insert(file.end(), content.begin(), content.end());
  return file;
}

Result<StoreEntry> parse_store_entry(std::span<const std::byte> file) {
  ByteReader reader(file);
  if (reader.number() != kMagic) return unreadable("not a file of a store");
  const uint64_t version = reader.number();
  if (reader.is_good() && version != kStoreFormatVersion)
    return unreadable(fmt::format("of format version {}; this library reads version {}", version,
                                  kStoreFormatVersion));
  const uint64_t expected = reader.number();
  if (!reader.is_good() || checksum(reader.rest()) != expected)
    return unreadable("damaged: the checksum is wrong");
  StoreEntry entry;
  entry.key = reader.text();
  entry.value = reader.bytes();
  if (!reader.is_good() || !reader.rest().empty())
    return unreadable("damaged: lengths do not fit the file");
  return entry;
}

}  // namespace warploom::base
