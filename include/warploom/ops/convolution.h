#pragma once
/// Convolutions in 1 to 3 spatial dimensions.
#include <array>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// Y[n, k, p...] = sum over c, r... of X[n, g C + c, p stride + r dilation - pre_padding] W[k, c,
/// r...], X read as 0 outside. X [N, C groups, spatial...], W [K, C, window...], Y [N, K, 1 + (x +
/// pre + post - (dilation (w - 1) + 1)) / stride]. The number of groups is X's channels over W's;
/// group g = k groups / K. ConvolutionMode_t::CONVOLUTION flips the window. Y's strides, unless
/// set, have the channel fastest (NHWC). Every spatial field has one entry per spatial dimension.
class Conv_fprop_attributes : public Attributes<Conv_fprop_attributes> {
 public:
  static constexpr std::string_view kTag = "CONV_FPROP";
  enum Input : size_t { X, W };
  enum Output : size_t { Y };
  static constexpr std::array kInputs{Port{"X", "image"}, Port{"W", "weight"}};
  static constexpr std::array kOutputs{Port{"Y", ""}};
  static constexpr auto fields() {
    using Self = Conv_fprop_attributes;
    return std::tuple{field("pre_padding", &Self::pre_padding_, kRequired),
                      field("post_padding", &Self::post_padding_, kRequired),
                      field("stride", &Self::stride_, kRequired),
                      field("dilation", &Self::dilation_, kRequired),
                      field("math_mode", &Self::convolution_mode_, kRequired)};
  }

  /// The same padding before and after.
  Conv_fprop_attributes& set_padding(std::vector<int64_t> value) {
    pre_padding_ = value;
    post_padding_ = std::move(value);
    return *this;
  }
  Conv_fprop_attributes& set_pre_padding(std::vector<int64_t> value) {
    pre_padding_ = std::move(value);
    return *this;
  }
  Conv_fprop_attributes& set_post_padding(std::vector<int64_t> value) {
    post_padding_ = std::move(value);
    return *this;
  }
  Conv_fprop_attributes& set_stride(std::vector<int64_t> value) {
    stride_ = std::move(value);
    return *this;
  }
  Conv_fprop_attributes& set_dilation(std::vector<int64_t> value) {
    dilation_ = std::move(value);
    return *this;
  }
  Conv_fprop_attributes& set_convolution_mode(ConvolutionMode_t mode) {
    convolution_mode_ = mode;
    return *this;
  }
  const std::vector<int64_t>& get_pre_padding() const { return pre_padding_; }
  const std::vector<int64_t>& get_post_padding() const { return post_padding_; }
  const std::vector<int64_t>& get_stride() const { return stride_; }
  const std::vector<int64_t>& get_dilation() const { return dilation_; }
  ConvolutionMode_t get_convolution_mode() const { return convolution_mode_; }

 private:
  std::vector<int64_t> pre_padding_, post_padding_, stride_, dilation_;
  ConvolutionMode_t convolution_mode_ = ConvolutionMode_t::CROSS_CORRELATION;
};

}  // namespace warploom::graph
