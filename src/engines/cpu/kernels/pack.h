#pragma once

#include "engines/cpu/kernels/kernel_table.h"
#include "engines/cpu/kernels/lines.h"
#include "engines/cpu/kernels/transpose.h"

// Packing of matrices into the layouts that the micro-kernels read. Source elements pass through a
// line of the compute type; what is already in the target's type is copied.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

/// What packed elements are, how many of K lie side by side, and through which type they go.
struct FloatFormat {
  using Element = float;
  using Compute = float;
  static constexpr int kPerStep = 1;
  static constexpr DataType_t kType = DataType_t::FLOAT;
  static WARPLOOM_INLINE float from(float x) { return x; }
};
struct DoubleFormat {
  using Element = double;
  using Compute = double;
  static constexpr int kPerStep = 1;
  static constexpr DataType_t kType = DataType_t::DOUBLE;
  static WARPLOOM_INLINE double from(double x) { return x; }
};
struct BFloat16Format {
  using Element = uint16_t;
  using Compute = float;
  static constexpr int kPerStep = 2;
  static constexpr DataType_t kType = DataType_t::BFLOAT16;
  static WARPLOOM_INLINE uint16_t from(float x) { return float_to_bfloat16(x); }
};
struct Int16Format {  // of int8, uint8 and booleans; larger values would not be exact
  using Element = int16_t;
  using Compute = float;
  static constexpr int kPerStep = 2;
  static constexpr DataType_t kType = DataType_t::NOT_SET;
  static WARPLOOM_INLINE int16_t from(float x) {
    return static_cast<int16_t>(static_cast<int32_t>(x));
  }
};

constexpr int kBlock = 16;  // lines of K at a time; the longest line is a panel's width
constexpr int kLongestLine = 64;

/// Reads lines of a source as elements of the format.
template <class Format>
struct LineSource {
  using Element = typename Format::Element;
  using Compute = typename Format::Compute;
  const char* data;
  Lines<Compute> lines;
  DataType_t type;

  /// Whether elements can be taken as they are.
  bool same_type() const { return type == Format::kType; }
  const Element* element(int64_t offset) const {
    return reinterpret_cast<const Element*>(data + offset * lines.bytes);
  }

  explicit LineSource(const PackSource& source)
      : data(static_cast<const char*>(source.data)),
        lines(lines_of<Compute>(source.type)),
        type(source.type) {}

  WARPLOOM_INLINE void read(int64_t offset, int64_t stride, Element* target, int n) const {
    const char* from = data + offset * lines.bytes;
    if (type == Format::kType && stride == 1) {
      __builtin_memcpy(target, from, static_cast<size_t>(n) * sizeof(Element));
    } else if constexpr (sizeof(Element) == sizeof(Compute)) {
      lines.read(from, stride, target, n);
    } else {
      for (int j = 0; j < n; j += kLongestLine) {
        Compute line[kLongestLine];
        const int count = n - j < kLongestLine ? n - j : kLongestLine;
        lines.read(from + j * stride * lines.bytes, stride, line, count);
        for (int i = 0; i < count; ++i) target[j + i] = Format::from(line[i]);
      }
    }
  }
};

/// `count` (at most kBlock, whole steps) of K from `k`, of one panel of which `width` columns
/// exist.
template <class Format, int nr>
void pack_block(const PackSource& source, const LineSource<Format>& lines, int64_t k, int count,
                int64_t column, int width, typename Format::Element* target) {
  using Element = typename Format::Element;
  constexpr int kPer = Format::kPerStep;
  const int valid = source.rows - k < count ? static_cast<int>(source.rows - k) : count;
  const int64_t start = k * source.row_stride + column * source.column_stride;
  if (source.row_stride != 1 || source.column_stride == 1) {  // lines along N
    if (kPer == 1 && width == nr) {
      for (int i = 0; i < count; ++i) {
        lines.read(start + i * source.row_stride, source.column_stride, target + i * nr, nr);
      }
      return;
    }
    alignas(64) Element block[kBlock][nr] = {};
    for (int i = 0; i < valid; ++i) {
      lines.read(start + i * source.row_stride, source.column_stride, block[i], width);
    }
    for (int i = 0; i < count; i += kPer) {
      for (int j = 0; j < nr; ++j) {
        for (int p = 0; p < kPer; ++p) target[i * nr + j * kPer + p] = block[i + p][j];
      }
    }
    return;
  }
  // Lines along K: transposed, in units of one step where those have four bytes.
  constexpr bool kUnits = sizeof(Element) * kPer == sizeof(uint32_t);
  alignas(64) Element block[nr][kBlock];
  const Element* from = &block[0][0];
  int64_t stride = kBlock;
  if (kUnits && lines.same_type() && width == nr && valid == kBlock &&
      source.column_stride % kPer == 0) {
    from = lines.element(start);
    stride = source.column_stride;
  } else {
    __builtin_memset(block, 0, sizeof(block));
    for (int j = 0; j < width; ++j) {
      lines.read(start + j * source.column_stride, 1, block[j], valid);
    }
  }
  if constexpr (kUnits) {
    if (count == kBlock) {
      const auto* units = reinterpret_cast<const Unit*>(from);
      auto* packed = reinterpret_cast<Unit*>(target);
      for (int i = 0; i < kBlock / kPer; i += kTransposed) {
        for (int j = 0; j < nr; j += kTransposed) {
          transpose_block(units + j * (stride / kPer) + i, stride / kPer, packed + i * nr + j, nr);
        }
      }
      return;
    }
  }
  for (int i = 0; i < count; i += kPer) {
    for (int j = 0; j < nr; ++j) {
      for (int p = 0; p < kPer; ++p) {
        target[i * nr + j * kPer + p] = from[j * stride + i + p];
      }
    }
  }
}

template <class Format, int nr>
void pack_b(const PackSource& source, void* panels, int64_t panel_stride) {
  constexpr int kPer = Format::kPerStep;
  const int64_t padded = (source.rows + kPer - 1) / kPer * kPer;
  const LineSource<Format> lines(source);
  for (int64_t column = 0; column < source.columns; column += nr) {
    auto* panel = reinterpret_cast<typename Format::Element*>(static_cast<char*>(panels) +
                                                              column / nr * panel_stride);
    const int64_t left = source.columns - column;
    const int width = left < nr ? static_cast<int>(left) : nr;
    for (int64_t k = 0; k < padded; k += kBlock) {
      const int count = padded - k < kBlock ? static_cast<int>(padded - k) : kBlock;
      pack_block<Format, nr>(source, lines, k, count, column, width, panel + k * nr);
    }
  }
}

template <class Format>
void pack_a(const PackSource& source, void* rows, int64_t row_stride) {
  using Element = typename Format::Element;
  const LineSource<Format> lines(source);
  const auto target_row = [&](int64_t i) {
    return reinterpret_cast<Element*>(static_cast<char*>(rows) + i * row_stride);
  };
  if (source.column_stride == 1 || source.row_stride != 1) {
    for (int64_t i = 0; i < source.rows; ++i) {
      lines.read(i * source.row_stride, source.column_stride, target_row(i),
                 static_cast<int>(source.columns));
    }
  } else {  // lines along M
    for (int64_t first = 0; first < source.rows; first += kBlock) {
      const int64_t left = source.rows - first;
      const int count = left < kBlock ? static_cast<int>(left) : kBlock;
      int64_t k = 0;
      if constexpr (kSame<Format, FloatFormat>) {
        if (lines.same_type() && count == kBlock) {
          for (; k + kTransposed <= source.columns; k += kTransposed) {
            for (int i = 0; i < kBlock; i += kTransposed) {
              const float* block = lines.element(first + i + k * source.column_stride);
              transpose_block(reinterpret_cast<const Unit*>(block), source.column_stride,
                              reinterpret_cast<Unit*>(target_row(first + i) + k),
                              row_stride / int64_t{sizeof(float)});
            }
          }
        }
      }
      for (; k < source.columns; ++k) {
        Element line[kBlock];
        lines.read(first + k * source.column_stride, 1, line, count);
        for (int i = 0; i < count; ++i) target_row(first + i)[k] = line[i];
      }
    }
  }
  if (source.columns % Format::kPerStep != 0) {
    for (int64_t i = 0; i < source.rows; ++i) target_row(i)[source.columns] = Element{};
  }
}

}  // namespace
}  // namespace warploom::cpu::WARPLOOM_ISA
