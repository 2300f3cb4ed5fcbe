#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engines/cpu/machine.h"

namespace warploom::cpu {

/// One axis of a copy; strides in elements.
struct CopyAxis {
  int64_t extent = 1;
  int64_t source_stride = 0;
  int64_t target_stride = 0;
};

/// A copy between two strided tensors of as many elements in the same order: raw bytes, or
/// converted where the types differ and for BOOLEAN.
class StridedCopy {
 public:
  /// Axes slowest first, in any order of strides.
  StridedCopy(std::vector<CopyAxis> axes, DataType_t source_type, DataType_t target_type);

  int64_t elements() const { return elements_; }
  int64_t bytes() const;
  void run(const void* source, void* target, const Machine& machine, bool is_parallel) const;

 private:
  void copy_plane(const std::byte* source, std::byte* target, int64_t begin, int64_t end,
                  const KernelTable& kernels) const;

  std::vector<CopyAxis> outer_;  // slowest first
  CopyAxis row_, column_;        // of a plane; columns are contiguous in the target if anything is
  int64_t elements_ = 1, element_bytes_ = 0;
  int64_t rows_per_task_ = 1;
  DataType_t source_type_, target_type_;
};

/// The axes on which elements of two tensors, each in row-major order of its dims, correspond;
/// empty when no such axes exist (dims whose products interleave, as 6 x 35 and 10 x 21).
std::optional<std::vector<CopyAxis>> common_axes(const std::vector<int64_t>& source_dims,
                                                 const std::vector<int64_t>& source_strides,
                                                 const std::vector<int64_t>& target_dims,
                                                 const std::vector<int64_t>& target_strides);

}  // namespace warploom::cpu
