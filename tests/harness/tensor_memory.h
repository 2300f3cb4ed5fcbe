#pragma once
/// Memory that shows who touched it: guard bytes around it, 0xFF in every byte that no element
/// lives in.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <warploom/tensor.h>

namespace warploom::test {

/// The elements of a tensor in row-major order of its dims, whatever its strides.
using Values = std::vector<double>;

/// `bytes` of 0xFF between guards. `misalignment`: bytes by which it misses a multiple of 64.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(int64_t bytes, int64_t misalignment = 0);
  std::byte* data() { return begin_; }
  const std::byte* data() const { return begin_; }
  int64_t size() const { return size_; }
  bool guards_are_intact() const;

 private:
  std::unique_ptr<std::byte[]> allocation_;
  std::byte* begin_ = nullptr;
  int64_t size_ = 0;
};

/// The memory of one tensor.
class TensorMemory {
 public:
  TensorMemory(const graph::Tensor_attributes& tensor, int64_t misalignment = 0);
  void write(const Values& values);
  Values read() const;
  void* pointer() { return buffer_.data(); }
  /// What was changed that should not be: guards and gaps, and the elements too unless
  /// `may_change`. Empty if nothing was.
  std::string damage(bool may_change) const;

 private:
  /// Calls visit(position in row-major order, offset in elements).
  template <class Visit>
  void for_each_element(Visit visit) const;
  int64_t tiled_offset(const std::vector<int64_t>& index) const;

  graph::Tensor_attributes tensor_;
  GuardedBuffer buffer_;
  std::vector<std::byte> written_;  ///< a copy of the buffer as write() left it
};

/// The number of bytes from a tensor's first element to its last, both included.
int64_t span_in_bytes(const graph::Tensor_attributes& tensor);

}  // namespace warploom::test
