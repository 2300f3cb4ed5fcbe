#pragma once

#include <optional>
#include <vector>

#include "engines/cpu/plain_tensor.h"

namespace warploom::cpu {

/// The axes of a domain, those that tell rows apart and those along a row; each slowest first.
struct RowAxes {
  std::vector<int> kept, along;
  std::vector<int64_t> dims;  ///< of the domain

  int64_t rows() const;
  int64_t length() const;
};

/// `along` are the axes where `statistics` has 1 and the domain more. In the order of the strides.
RowAxes row_axes(const ir::Shape& domain, std::span<const int64_t> statistics);

/// A tensor that repeats over a domain, read and written row by row. A result that nobody wants is
/// none.
class RowTensor {
 public:
  RowTensor() = default;
  RowTensor(const fusion::FusionGroup& group, ir::ShapeTable shapes, ir::TensorId tensor,
            const RowAxes& axes);

  explicit operator bool() const { return type_ != DataType_t::NOT_SET; }
  DataType_t type() const { return type_; }
  /// One element serves all of a row.
  bool is_constant_along() const { return is_constant_along_; }
  /// All rows have the same elements.
  bool is_same_for_rows() const;

  double element(std::span<void* const> pointers, int64_t row, const KernelTable& kernels) const;
  void set_element(std::span<void* const> pointers, int64_t row, double value,
                   const KernelTable& kernels) const;
  /// The elements of a row, contiguous: in place if they lie so in memory as `type`, else copied to
  /// `buffer`.
  const void* row(std::span<void* const> pointers, int64_t row, DataType_t type, void* buffer,
                  const KernelTable& kernels) const {
    return piece(pointers, {row, 0, length_}, type, buffer, kernels);
  }

  /// Consecutive elements of a row.
  struct Piece {
    int64_t row = 0, begin = 0, count = 0;
  };
  /// Of those from `begin` on, as many as lie evenly spaced in memory.
  int64_t left_in_run(int64_t begin) const;
  const void* piece(std::span<void* const> pointers, const Piece& piece, DataType_t type,
                    void* buffer, const KernelTable& kernels) const;
  /// Where to write the elements of a piece as `type`: in place if they lie so in memory, else
  /// `buffer`, which write() then stores.
  void* target(std::span<void* const> pointers, const Piece& piece, DataType_t type,
               void* buffer) const;
  /// `values`: from target(); nothing is left to do for those in place.
  void write(std::span<void* const> pointers, const Piece& piece, DataType_t type,
             const void* values, const KernelTable& kernels) const;

 private:
  struct Axis {
    int64_t extent, stride;
  };
  std::byte* at(std::span<void* const> pointers, int64_t row) const;
  int64_t offset_along(int64_t begin) const;
  bool is_in_place(const Piece& piece, DataType_t type) const;
  template <class Function>
  void for_each_run(std::span<void* const> pointers, const Piece& piece, Function&& function) const;

  DataType_t type_ = DataType_t::NOT_SET;
  int64_t element_bytes_ = 0;
  int pointer_ = -1;
  double value_ = 0;  // of a scalar that the graph holds
  std::vector<Axis> kept_;
  std::vector<Axis> along_;  // merged
  bool is_constant_along_ = true;
  int64_t length_ = 0;
};

}  // namespace warploom::cpu
