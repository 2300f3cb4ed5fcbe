#include "harness/tensor_memory.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "harness/element.h"

namespace warploom::test {
namespace {

constexpr int64_t kGuard = 128;
constexpr std::byte kGuardByte{0xC3};
constexpr std::byte kPoison{0xFF};

bool all_are(const std::byte* begin, int64_t count, std::byte value) {
  return std::all_of(begin, begin + count, [&](std::byte b) { return b == value; });
}

// The layout F8_128x4 from its description: matrices of the last two dims, their columns along the
// dim of the smaller stride, in tiles of 128 x 4 of which 32 rows interleave four at a time.
struct Tiles {
  size_t row_axis, column_axis;
  int64_t down, across;  // tiles of a matrix

  explicit Tiles(const graph::Tensor_attributes& tensor) {
    const size_t last = tensor.get_dim().size() - 1;
    const bool is_column_major = tensor.get_stride()[last - 1] < tensor.get_stride()[last];
    row_axis = is_column_major ? last : last - 1;
    column_axis = is_column_major ? last - 1 : last;
    down = (tensor.get_dim()[row_axis] + 127) / 128;
    across = (tensor.get_dim()[column_axis] + 3) / 4;
  }
  int64_t offset(int64_t matrix, int64_t row, int64_t column) const {
    const int64_t tile = matrix * down * across + row / 128 * across + column / 4;
    const int64_t in_tile = row % 128;
    return tile * 512 + (in_tile % 32) * 16 + (in_tile / 32) * 4 + column % 4;
  }
};

bool is_tiled(const graph::Tensor_attributes& tensor) {
  return tensor.get_reordering_type() == TensorReordering_t::F8_128x4;
}

}  // namespace

GuardedBuffer::GuardedBuffer(int64_t bytes, int64_t misalignment)
    : allocation_(new std::byte[static_cast<size_t>(bytes + 2 * kGuard + 64 + misalignment)]),
      size_(bytes) {
  const auto address = reinterpret_cast<uintptr_t>(allocation_.get()) + kGuard;
  begin_ = allocation_.get() + kGuard + (64 - address % 64) % 64 + misalignment;
  std::memset(begin_ - kGuard, static_cast<int>(kGuardByte), static_cast<size_t>(kGuard));
  std::memset(begin_, static_cast<int>(kPoison), static_cast<size_t>(bytes));
  std::memset(begin_ + bytes, static_cast<int>(kGuardByte), static_cast<size_t>(kGuard));
}

bool GuardedBuffer::guards_are_intact() const {
  return all_are(begin_ - kGuard, kGuard, kGuardByte) &&
         all_are(begin_ + size_, kGuard, kGuardByte);
}

int64_t span_in_bytes(const graph::Tensor_attributes& tensor) {
  int64_t last = 0, matrices = 1;
  for (size_t i = 0; i < tensor.get_dim().size(); ++i) {
    if (tensor.get_dim()[i] == 0) return 0;
    last += (tensor.get_dim()[i] - 1) * tensor.get_stride()[i];
    if (i + 2 < tensor.get_dim().size()) matrices *= tensor.get_dim()[i];
  }
  if (is_tiled(tensor)) return matrices * Tiles(tensor).down * Tiles(tensor).across * 512;
  return element_offset(tensor.get_data_type(), last) + element_size(tensor.get_data_type());
}

TensorMemory::TensorMemory(const graph::Tensor_attributes& tensor, int64_t misalignment)
    : tensor_(tensor), buffer_(span_in_bytes(tensor), misalignment) {
  written_.assign(buffer_.data(), buffer_.data() + buffer_.size());
}

int64_t TensorMemory::tiled_offset(const std::vector<int64_t>& index) const {
  const Tiles tiles(tensor_);
  int64_t matrix = 0;
  for (size_t i = 0; i + 2 < index.size(); ++i) matrix = matrix * tensor_.get_dim()[i] + index[i];
  return tiles.offset(matrix, index[tiles.row_axis], index[tiles.column_axis]);
}

template <class Visit>
void TensorMemory::for_each_element(Visit visit) const {
  const auto& dims = tensor_.get_dim();
  const auto& strides = tensor_.get_stride();
  const int64_t volume = tensor_.get_volume();
  std::vector<int64_t> index(dims.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < volume; ++i) {
    visit(static_cast<size_t>(i), is_tiled(tensor_) ? tiled_offset(index) : offset);
    for (size_t axis = dims.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < dims[axis]) break;
      offset -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

void TensorMemory::write(const Values& values) {
  if (static_cast<int64_t>(values.size()) != tensor_.get_volume())
    throw std::invalid_argument("tensor " + tensor_.get_name() + " has " +
                                std::to_string(tensor_.get_volume()) + " elements, not " +
                                std::to_string(values.size()));
  for_each_element([&](size_t i, int64_t offset) {
    encode(values[i], tensor_.get_data_type(), buffer_.data(), offset);
  });
  written_.assign(buffer_.data(), buffer_.data() + buffer_.size());
}

Values TensorMemory::read() const {
  Values values(static_cast<size_t>(tensor_.get_volume()));
  for_each_element([&](size_t i, int64_t offset) {
    values[i] = decode(buffer_.data(), tensor_.get_data_type(), offset);
  });
  return values;
}

std::string TensorMemory::damage(bool may_change) const {
  if (!buffer_.guards_are_intact()) return tensor_.get_name() + ": bytes outside it were written";
  std::vector<std::byte> now(buffer_.data(), buffer_.data() + buffer_.size());
  if (may_change) {
    for_each_element([&](size_t, int64_t index) {
      const int64_t offset = element_offset(tensor_.get_data_type(), index);
      std::memcpy(now.data() + offset, written_.data() + offset,
                  static_cast<size_t>(element_size(tensor_.get_data_type())));
    });
  }
  const auto [changed, unused] = std::mismatch(now.begin(), now.end(), written_.begin());
  if (changed == now.end()) return "";
  return tensor_.get_name() + ": byte " + std::to_string(changed - now.begin()) +
         (may_change ? ", which no element uses, was written" : " of an input was written");
}

}  // namespace warploom::test
