#include "engines/cpu/channel_chunks.h"

#include <algorithm>

namespace warploom::cpu {

ChannelChunks::ChannelChunks(const ChannelAxes& channels)
    : planes(channels.planes), rows(channels.rows), columns(channels.columns) {
  constexpr int64_t kMostChunks = 128;
  constexpr int64_t kMostSumBytes = int64_t{8} << 20;
  const int64_t width = std::max<int64_t>(columns, 1);
  const int64_t most = std::clamp<int64_t>(
      kMostSumBytes / (std::max<int64_t>(planes, 1) * width * 16), 1, kMostChunks);
  block_rows = std::max<int64_t>(kBlockElements / width, 1);
  chunks = std::clamp<int64_t>(rows * width / kChunkElements, 1, most);
}

void ChannelChunks::add_up(std::byte* sums, int64_t plane) const {
  double* const total = sums_of(sums, plane * chunks);
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    const double* const next = sums_of(sums, plane * chunks + chunk);
    for (int64_t i = 0; i < 2 * columns; ++i) total[i] += next[i];
  }
}

}  // namespace warploom::cpu
