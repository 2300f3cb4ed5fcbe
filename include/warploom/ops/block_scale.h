#pragma once
/// Numbers of 8 and 4 bits that share a scale with the rest of their block.
#include <array>
#include <optional>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// Y = X / scale, with one scale for every `block_size` consecutive elements along `axis` (the last
/// dim, unless set): the greatest magnitude of the block over the greatest number of Y's type,
/// rounded to scale's type (up to FP8_E8M0, so that nothing saturates; else to nearest). Y is
/// FP8_E4M3, FP8_E5M2 or FP4_E2M1. Y has X's dims; `transpose` swaps its last two strides. scale's
/// dims are X's, with `axis` divided by the block size.
class Block_scale_quantize_attributes : public Attributes<Block_scale_quantize_attributes> {
 public:
  static constexpr std::string_view kTag = "BLOCK_SCALE_QUANTIZE";
  enum Input : size_t { X };
  enum Output : size_t { Y, Scale };
  static constexpr Port kInputs[]{Port{"X", "input"}};
  static constexpr Port kOutputs[]{Port{"Y", ""}, Port{"scale", ""}};
  template <class Self = Block_scale_quantize_attributes>
  static constexpr auto fields() {
    return std::tuple{field("block_size", &Self::block_size_, kRequired),
                      field("axis", &Self::axis_), field("transpose", &Self::transpose_)};
  }

  Block_scale_quantize_attributes& set_block_size(int32_t value) {
    block_size_ = value;
    return *this;
  }
  Block_scale_quantize_attributes& set_axis(int64_t value) {
    axis_ = value;
    return *this;
  }
  Block_scale_quantize_attributes& set_transpose(bool value) {
    transpose_ = value;
    return *this;
  }
  std::optional<int64_t> get_block_size() const { return block_size_; }
  std::optional<int64_t> get_axis() const { return axis_; }
  bool get_transpose() const { return transpose_; }

 private:
  std::optional<int64_t> block_size_, axis_;
  bool transpose_ = false;
};

/// Y = X scale, with one scale for every block of X. The block sizes are those of the trailing
/// dims: {1, 32} for blocks of 32 along the last one. Dims and strides of Y are X's.
class Block_scale_dequantize_attributes : public Attributes<Block_scale_dequantize_attributes> {
 public:
  static constexpr std::string_view kTag = "BLOCK_SCALE_DEQUANTIZE";
  enum Input : size_t { X, Scale };
  enum Output : size_t { Y };
  static constexpr Port kInputs[]{Port{"X", "input"}, Port{"scale", "descale"}};
  static constexpr Port kOutputs[]{Port{"Y", ""}};
  template <class Self = Block_scale_dequantize_attributes>
  static constexpr auto fields() {
    return std::tuple{field("block_size", &Self::block_size_, kRequired),
                      field("is_negative_scale", &Self::is_negative_scale_)};
  }

  Block_scale_dequantize_attributes& set_block_size(int32_t value, int32_t index = 0) {
    if (index < 0) return *this;
    if (block_size_.size() <= static_cast<size_t>(index))
      block_size_.resize(static_cast<size_t>(index) + 1, 1);
    block_size_[static_cast<size_t>(index)] = value;
    return *this;
  }
  Block_scale_dequantize_attributes& set_block_size(const int32_t* values, int32_t count = 1) {
    block_size_.assign(values, values + count);
    return *this;
  }
  Block_scale_dequantize_attributes& set_block_size(const std::vector<int32_t>& values) {
    block_size_.assign(values.begin(), values.end());
    return *this;
  }
  /// true is refused by validate() in this version.
  Block_scale_dequantize_attributes& set_is_negative_scale(bool value) {
    is_negative_scale_ = value;
    return *this;
  }
  const std::vector<int64_t>& get_block_size() const { return block_size_; }
  bool get_is_negative_scale() const { return is_negative_scale_; }

 private:
  std::vector<int64_t> block_size_;
  bool is_negative_scale_ = false;
};

}  // namespace warploom::graph
