#include "engines/cpu/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "engines/cpu/workspace_layout.h"

namespace warploom::cpu {
namespace {

constexpr int64_t kTransposedBlock = 16;  // of transposed elements: a cache line of floats
constexpr int64_t kTaskElements = 32768;

template <class Element>
void copy_elements(const std::byte* source, int64_t source_stride, std::byte* target,
                   int64_t target_stride, int64_t n) {
  auto* from = reinterpret_cast<const Element*>(source);
  auto* to = reinterpret_cast<Element*>(target);
  for (int64_t i = 0; i < n; ++i) to[i * target_stride] = from[i * source_stride];
}

// Rows and columns in blocks, so that every cache line that is touched is used whole on both sides.
template <class Element>
void copy_blocked(const std::byte* source, std::byte* target, const CopyAxis& row,
                  const CopyAxis& column, int64_t begin, int64_t end) {
  auto* from = reinterpret_cast<const Element*>(source);
  auto* to = reinterpret_cast<Element*>(target);
  for (int64_t r0 = begin; r0 < end; r0 += kTransposedBlock) {
    const int64_t r1 = std::min(r0 + kTransposedBlock, end);
    for (int64_t c0 = 0; c0 < column.extent; c0 += kTransposedBlock) {
      const int64_t c1 = std::min(c0 + kTransposedBlock, column.extent);
      for (int64_t r = r0; r < r1; ++r) {
        const Element* in = from + r * row.source_stride;
        Element* out = to + r * row.target_stride;
        for (int64_t c = c0; c < c1; ++c)
          out[c * column.target_stride] = in[c * column.source_stride];
      }
    }
  }
}

template <class Function>
void for_element_size(int64_t bytes, Function&& fn) {
  switch (bytes) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    default:
      return fn(uint64_t{});
  }
}

}  // namespace

StridedCopy::StridedCopy(std::vector<CopyAxis> axes, DataType_t source_type, DataType_t target_type)
    : element_bytes_(detail::get_data_type_size(target_type)),
      source_type_(source_type),
      target_type_(target_type) {
  for (const CopyAxis& axis : axes) elements_ *= axis.extent;
  std::erase_if(axes, [](const CopyAxis& axis) { return axis.extent == 1; });
  // In the order of the target's memory, axes that continue each other made one.
  std::stable_sort(axes.begin(), axes.end(), [](const CopyAxis& a, const CopyAxis& b) {
    return std::abs(a.target_stride) > std::abs(b.target_stride);
  });
  for (const CopyAxis& axis : axes) {
    if (!outer_.empty() && outer_.back().source_stride == axis.extent * axis.source_stride &&
        outer_.back().target_stride == axis.extent * axis.target_stride)
      outer_.back() = {outer_.back().extent * axis.extent, axis.source_stride, axis.target_stride};
    else
      outer_.push_back(axis);
  }
  if (!outer_.empty()) {
    column_ = outer_.back();
    outer_.pop_back();
  }
  // The row axis is the one that the source is contiguous in.
  auto row =
      std::min_element(outer_.begin(), outer_.end(), [](const CopyAxis& a, const CopyAxis& b) {
        return std::abs(a.source_stride) < std::abs(b.source_stride);
      });
  if (row != outer_.end()) {
    row_ = *row;
    outer_.erase(row);
  }
  if (outer_.empty() && row_.extent == 1 && column_.extent > kTaskElements) {
    // One long run: cut into rows, for threads to share.
    int64_t rows = std::gcd(column_.extent, int64_t{1} << 20);
    if (rows > 1) {
      column_.extent /= rows;
      row_ = {rows, column_.extent * column_.source_stride, column_.extent * column_.target_stride};
    }
  }
  rows_per_task_ = std::clamp<int64_t>(kTaskElements / std::max<int64_t>(column_.extent, 1), 1,
                                       std::max<int64_t>(row_.extent, 1));
}

int64_t StridedCopy::bytes() const {
  return elements_ * (element_bytes_ + detail::get_data_type_size(source_type_));
}

void StridedCopy::copy_plane(const std::byte* source, std::byte* target, int64_t begin, int64_t end,
                             const KernelTable& kernels) const {
  const int64_t source_bytes = detail::get_data_type_size(source_type_);
  // Bytes that mean true are written as 1, whatever they are.
  if (source_type_ != target_type_ || source_type_ == DataType_t::BOOLEAN) {
    for (int64_t row = begin; row < end; ++row)
      kernels.convert(source + row * row_.source_stride * source_bytes, source_type_,
                      column_.source_stride, target + row * row_.target_stride * element_bytes_,
                      target_type_, column_.target_stride, column_.extent);
    return;
  }
  if (column_.source_stride == 1 && column_.target_stride == 1) {
    for (int64_t row = begin; row < end; ++row)
      std::memcpy(target + row * row_.target_stride * element_bytes_,
                  source + row * row_.source_stride * element_bytes_,
                  static_cast<size_t>(column_.extent * element_bytes_));
    return;
  }
  for_element_size(element_bytes_, [&](auto element) {
    copy_blocked<decltype(element)>(source, target, row_, column_, begin, end);
  });
}

void StridedCopy::run(const void* source, void* target, const Machine& machine,
                      bool is_parallel) const {
  if (elements_ == 0) return;
  const int64_t source_bytes = detail::get_data_type_size(source_type_);
  const int64_t tasks_per_plane = divide_up(row_.extent, rows_per_task_);
  int64_t planes = 1;
  for (const CopyAxis& axis : outer_) planes *= axis.extent;
  machine.run(planes * tasks_per_plane, is_parallel, [&](int64_t task, int) {
    const int64_t begin = task % tasks_per_plane * rows_per_task_;
    int64_t rest = task / tasks_per_plane, source_offset = 0, target_offset = 0;
    for (size_t axis = outer_.size(); axis-- > 0; rest /= outer_[axis].extent) {
      int64_t at = rest % outer_[axis].extent;
      source_offset += at * outer_[axis].source_stride;
      target_offset += at * outer_[axis].target_stride;
    }
    copy_plane(static_cast<const std::byte*>(source) + source_offset * source_bytes,
               static_cast<std::byte*>(target) + target_offset * element_bytes_, begin,
               std::min(begin + rows_per_task_, row_.extent), *machine.kernels);
  });
}

std::optional<std::vector<CopyAxis>> common_axes(const std::vector<int64_t>& source_dims,
                                                 const std::vector<int64_t>& source_strides,
                                                 const std::vector<int64_t>& target_dims,
                                                 const std::vector<int64_t>& target_strides) {
  std::vector<CopyAxis> axes;
  auto s = static_cast<int64_t>(source_dims.size()) - 1;
  auto t = static_cast<int64_t>(target_dims.size()) - 1;
  int64_t source_rest = 1, target_rest = 1, source_done = 1, target_done = 1;
  for (;;) {
    if (source_rest == 1 && s >= 0) {
      source_rest = source_dims[static_cast<size_t>(s--)];
      source_done = 1;
      continue;
    }
    if (target_rest == 1 && t >= 0) {
      target_rest = target_dims[static_cast<size_t>(t--)];
      target_done = 1;
      continue;
    }
    if (source_rest == 1 && target_rest == 1) break;
    const int64_t extent = std::min(source_rest, target_rest);
    if (extent == 0 || source_rest % extent != 0 || target_rest % extent != 0) return std::nullopt;
    axes.push_back({extent, source_done * source_strides[static_cast<size_t>(s + 1)],
                    target_done * target_strides[static_cast<size_t>(t + 1)]});
    source_rest /= extent;
    target_rest /= extent;
    source_done *= extent;
    target_done *= extent;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

}  // namespace warploom::cpu
