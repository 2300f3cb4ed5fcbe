// Files of the stores on disk: any bytes are read or refused; what is read is what is written.
// Their content is read as measured times, whatever it is.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "base/store_entry.h"
#include "plan/tuning_table.h"

namespace {

using Bytes = std::vector<std::byte>;
using warploom::base::StoreEntry;

/// The bytes with what no mutation finds by chance: magic, version and checksum
/// (base/store_entry.h).
Bytes sealed(Bytes file) {
  constexpr size_t kContentAt = 24;
  if (file.size() < kContentAt) return file;
  const std::string_view content(reinterpret_cast<const char*>(&file[0]) + kContentAt,
                                 file.size() - kContentAt);
  const uint64_t checksum = warploom::base::Hash().add(content).value();
  std::memcpy(&file[0], "WRPLSTOR", 8);
  std::memcpy(&file[8], &warploom::base::kStoreFormatVersion, 8);
  std::memcpy(&file[16], &checksum, 8);
  return file;
}

void check_table(std::span<const std::byte> bytes) {
  const auto table = warploom::plan::parse_tuning_table(bytes);
  if (table.is_bad()) return;
  const Bytes written = warploom::plan::encode_tuning_table(table.value());
  const auto again = warploom::plan::parse_tuning_table(written);
  if (again.is_bad() || warploom::plan::encode_tuning_table(again.value()) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  const Bytes file(first, first + size);
  (void)warploom::base::parse_store_entry(file);
  check_table(file);
  const Bytes whole = sealed(file);
  const auto entry = warploom::base::parse_store_entry(whole);
  if (entry.is_bad()) return 0;
  if (warploom::base::encode_store_entry(entry.value()) != whole) std::abort();
  check_table(entry.value().value);
  return 0;
}
