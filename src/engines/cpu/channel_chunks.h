#pragma once

#include "engines/cpu/channel_matrix.h"

namespace warploom::cpu {

/// The rows of every plane cut into chunks, one a task, and chunks into blocks that stay in the L1
/// cache: the same for any number of threads. Every chunk has sums of its own, which are added up
/// in order.
struct ChannelChunks {
  static constexpr int64_t kBlockElements = 4096;
  static constexpr int64_t kChunkElements = 32768;

  int64_t planes = 0, rows = 0, columns = 0;
  int64_t chunks = 1;  ///< of a plane
  int64_t block_rows = 1;

  ChannelChunks() = default;
  explicit ChannelChunks(const ChannelAxes& channels);

  int64_t tasks() const { return planes * chunks; }
  int64_t statistics() const { return planes * columns; }
  int64_t block_elements() const { return block_rows * columns; }

  /// function(block) for the blocks of a task.
  template <class Function>
  void for_each_block(int64_t task, Function&& function) const {
    const int64_t chunk = task % chunks;
    const int64_t end = rows * (chunk + 1) / chunks;
    for (int64_t row = rows * chunk / chunks; row < end; row += block_rows)
      function(ChannelMatrix::Block{task / chunks, row, std::min(block_rows, end - row)});
  }

  /// Two sums of a task, `columns` each.
  double* sums_of(std::byte* sums, int64_t task) const {
    return reinterpret_cast<double*>(sums) + task * 2 * columns;
  }
  int64_t sum_bytes() const { return tasks() * 2 * columns * 8; }
  /// The sums of a plane: into those of its first chunk.
  void add_up(std::byte* sums, int64_t plane) const;
};

}  // namespace warploom::cpu
