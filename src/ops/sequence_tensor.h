#pragma once
#include <limits>
#include <optional>

#include "ops/index_loop.h"

namespace warploom::ops {

/// A tensor [b, h, s, d] whose rows of d elements lie where its strides say, or, in place of the
/// first stride, at a ragged offset of each batch, or on pages that a table names.
class SequenceTensor {
 public:
  SequenceTensor(const ReferenceTensor& tensor, const ReferenceTensor& ragged_offset,
                 const ReferenceTensor& page_table = {})
      : tensor_(tensor), ragged_offset_(ragged_offset), page_table_(page_table) {}

  explicit operator bool() const { return static_cast<bool>(tensor_); }
  const ReferenceTensor& tensor() const { return tensor_; }
  bool is_ragged() const { return static_cast<bool>(ragged_offset_); }

  /// Of element 0 of a row; nothing where the table names a page that is not there.
  std::optional<int64_t> row_offset(int64_t batch, int64_t head, int64_t row) const {
    const std::vector<int64_t>& strides = tensor_.shape->strides;
    int64_t start = batch * strides[0];
    if (ragged_offset_) {
      start = load<int64_t>(ragged_offset_, batch * ragged_offset_.shape->strides[0]);
    } else if (page_table_) {
      const int64_t page_size = tensor_.shape->dims[2];
      const std::vector<int64_t>& steps = page_table_.shape->strides;
      const int64_t page =
          load<int64_t>(page_table_, batch * steps[0] + row / page_size * steps[2]);
      if (page < 0 || page >= tensor_.shape->dims[0]) return std::nullopt;
      start = page * strides[0];
      row %= page_size;
    }
    return start + head * strides[1] + row * strides[2];
  }

  /// Rows up to `rows` of a head as doubles, one after another; NaN where there is no page.
  void unpack(int64_t batch, int64_t head, int64_t rows, double* target) const {
    const int64_t size = tensor_.shape->dims[3], stride = tensor_.shape->strides[3];
    for (int64_t row = 0; row < rows; ++row)
      if (const auto offset = row_offset(batch, head, row))
        for (int64_t i = 0; i < size; ++i) *target++ = load<double>(tensor_, *offset + i * stride);
      else
        target = std::fill_n(target, size, std::numeric_limits<double>::quiet_NaN());
  }

 private:
  ReferenceTensor tensor_, ragged_offset_, page_table_;
};

}  // namespace warploom::ops
