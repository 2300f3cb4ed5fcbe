#pragma once
/// Memory for the tensors that a graph reads and writes, laid out as the graph says.
#include <cstddef>
#include <memory>
#include <string>

#include <warploom/frozen_graph.h>

#include "tools/npy.h"

namespace warploom::tools {

/// Aligned memory whose every byte is 0xFF at first: what nobody writes shows as NaN or -1.
class AlignedMemory {
 public:
  explicit AlignedMemory(int64_t bytes);
  std::byte* data() const { return data_.get(); }
  int64_t bytes() const { return bytes_; }
  void poison();

 private:
  struct Free {
    void operator()(std::byte* pointer) const;
  };
  int64_t bytes_;
  std::unique_ptr<std::byte, Free> data_;
};

class TensorMemory {
 public:
  /// INVALID_VALUE when the tensor is too large for this machine or of a type without whole bytes.
  static Result<TensorMemory> allocate(const ir::Tensor& tensor);

  const ir::Tensor& tensor() const { return *tensor_; }
  void* pointer() const { return memory_.data(); }
  std::byte* element(int64_t offset) const;
  void poison() { memory_.poison(); }

  /// Lays out the array by the tensor's strides. INVALID_VALUE says what was expected and what was
  /// given when the data type or dims differ.
  error_t assign(const NpyArray& array);
  /// The elements in row-major order.
  NpyArray to_array() const;

 private:
  TensorMemory(const ir::Tensor& tensor, int64_t bytes) : tensor_(&tensor), memory_(bytes) {}

  const ir::Tensor* tensor_;  // part of the frozen graph, which outlives this
  AlignedMemory memory_;
};

/// E.g. "FLOAT [16, 64, 56, 56]".
std::string describe(DataType_t type, const std::vector<int64_t>& dims);

}  // namespace warploom::tools
