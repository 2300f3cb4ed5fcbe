#pragma once

#include <optional>

#include "engines/cpu/row_tensor.h"

namespace warploom::cpu {

/// A domain whose statistics are over its rows: [planes][rows][columns], where the columns are the
/// kept axis that is fastest in memory, the planes the other kept ones. Statistic number s is that
/// of column s % columns of plane s / columns.
struct ChannelAxes {
  RowAxes axes;  ///< the column axis last among the kept ones
  int64_t planes = 1, rows = 0, columns = 0;
};

/// Nothing where neighbours in memory belong to the same statistic.
std::optional<ChannelAxes> channel_axes(const ir::Shape& domain, const RowAxes& axes);

/// A tensor of such a domain, read and written by blocks of rows of one plane.
class ChannelMatrix {
 public:
  ChannelMatrix() = default;
  ChannelMatrix(const fusion::FusionGroup& group, ir::ShapeTable shapes, ir::TensorId tensor,
                const ChannelAxes& channels);

  explicit operator bool() const { return pointer_ >= 0; }

  struct Block {
    int64_t plane = 0, row = 0, rows = 0;
  };
  /// The block's elements as `type`: in place if they lie in memory so, else copied to `buffer`.
  ColumnMatrix read(std::span<void* const> pointers, const Block& block, DataType_t type,
                    void* buffer, const KernelTable& kernels) const;
  /// Where to write the block as `type`: in place or `buffer`, which write() then stores.
  struct Target {
    void* data = nullptr;
    int64_t stride = 0;
  };
  Target target(std::span<void* const> pointers, const Block& block, DataType_t type,
                void* buffer) const;
  void write(std::span<void* const> pointers, const Block& block, DataType_t type,
             const Target& target, const KernelTable& kernels) const;

 private:
  struct Axis {
    int64_t extent, stride;
  };
  bool is_in_place(DataType_t type) const {
    return rows_.size() == 1 && (column_stride_ == 1 || columns_ == 1) && type_ == type;
  }
  /// One row follows the other without gaps.
  bool is_dense() const {
    return rows_.size() == 1 && column_stride_ == 1 && rows_[0].stride == columns_;
  }
  std::byte* at(std::span<void* const> pointers, int64_t plane, int64_t row) const;

  DataType_t type_ = DataType_t::NOT_SET;
  int64_t element_bytes_ = 0, columns_ = 0, column_stride_ = 0;
  int pointer_ = -1;
  std::vector<Axis> planes_;
  std::vector<Axis> rows_;  // merged; at least one
};

}  // namespace warploom::cpu
