#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <warploom/error.h>

namespace warploom::plan {

/// What distinguishes groups of one signature.
struct Extents {
  std::vector<int64_t> values;  ///< dims of every tensor in turn, and bounds of attributes
  uint64_t layout = 0;          ///< a hash of the strides
  auto operator<=>(const Extents&) const = default;
};

/// How long one way to run a group took.
struct MeasuredTime {
  double measured_microseconds = 0;   ///< above 0
  double predicted_microseconds = 0;  ///< what the engine said then
  int64_t when_ns = 0;                ///< since 1970
};

/// Measured times of the groups of one signature on one device: by extents, then by the name of the
/// offer.
using TuningTable = std::map<Extents, std::map<std::string, MeasuredTime, std::less<>>>;

/// At most this many extents are kept of a problem, the newest, and as many offers of each.
inline constexpr size_t kMostExtents = 64;
inline constexpr size_t kMostOffers = 256;

/// Takes over what is newer or not there, and keeps the table within its bounds.
void merge(TuningTable& table, const TuningTable& other);

/// Its layout: numbers of eight bytes, the lowest first, texts after their length. The number of
/// extents, and for each: the number of values, the values, the layout; the number of offers, and
/// for each: its name, measured and predicted time as IEEE doubles, when.
std::vector<std::byte> encode_tuning_table(const TuningTable& table);
/// UNSUPPORTED_GRAPH_FORMAT says what is wrong.
Result<TuningTable> parse_tuning_table(std::span<const std::byte> bytes);

}  // namespace warploom::plan
