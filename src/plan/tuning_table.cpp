#include "plan/tuning_table.h"

#include <algorithm>
#include <cmath>

#include "base/byte_stream.h"

namespace warploom::plan {
namespace {

error_t malformed(const char* what) {
  return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, std::string("tuning table: ") + what};
}

int64_t newest(const TuningTable::mapped_type& times) {
  int64_t when = INT64_MIN;
  for (const auto& [offer, time] : times) when = std::max(when, time.when_ns);
  return when;
}
int64_t newest(const MeasuredTime& time) {
  return time.when_ns;
}

template <class Map>
void keep_newest(Map& map, size_t most) {
  while (map.size() > most)
    map.erase(
        std::ranges::min_element(map, {}, [](const auto& entry) { return newest(entry.second); }));
}

}  // namespace

void merge(TuningTable& table, const TuningTable& other) {
  for (const auto& [extents, times] : other) {
    auto& merged = table[extents];
    for (const auto& [offer, time] : times) {
      const auto [place, is_new] = merged.try_emplace(offer, time);
      if (!is_new && place->second.when_ns < time.when_ns) place->second = time;
    }
    keep_newest(merged, kMostOffers);
  }
  keep_newest(table, kMostExtents);
}

std::vector<std::byte> encode_tuning_table(const TuningTable& table) {
  base::ByteWriter writer;
  writer.add(uint64_t{table.size()});
  for (const auto& [extents, times] : table) {
    writer.add(uint64_t{extents.values.size()});
    for (int64_t value : extents.values) writer.add(value);
    writer.add(extents.layout).add(uint64_t{times.size()});
    for (const auto& [offer, time] : times)
      writer.add(std::string_view(offer))
          .add(time.measured_microseconds)
          .add(time.predicted_microseconds)
          .add(time.when_ns);
  }
  return writer.take();
}

Result<TuningTable> parse_tuning_table(std::span<const std::byte> bytes) {
  base::ByteReader reader(bytes);
  TuningTable table;
  const uint64_t count = reader.number();
  if (count > kMostExtents) return malformed("too many extents");
  for (uint64_t i = 0; i < count && reader.is_good(); ++i) {
    Extents extents;
    const uint64_t values = reader.number();
    if (values > reader.rest().size() / 8) return malformed("it ends early");
    for (uint64_t k = 0; k < values; ++k) {
      extents.values.push_back(reader.signed_number());
      if (extents.values.back() < 0) return malformed("an extent is negative");
    }
    extents.layout = reader.number();
    const uint64_t offers = reader.number();
    if (offers > kMostOffers) return malformed("too many offers");
    auto& times = table[std::move(extents)];
    for (uint64_t k = 0; k < offers && reader.is_good(); ++k) {
      MeasuredTime& time = times[std::string(reader.text())];
      time.measured_microseconds = reader.real();
      time.predicted_microseconds = reader.real();
      time.when_ns = reader.signed_number();
      if (reader.is_good() &&
          !(time.measured_microseconds > 0 && std::isfinite(time.measured_microseconds)))
        return malformed("a measured time is no time");
    }
  }
  if (!reader.is_good()) return malformed("it ends early");
  if (!reader.rest().empty()) return malformed("more follows its end");
  return table;
}

}  // namespace warploom::plan
