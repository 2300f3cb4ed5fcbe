#pragma once
/// Convolutions in 1 to 3 spatial dimensions, and their gradients.
#include <array>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// What every convolution is told. Each list has one entry per spatial dimension.
class ConvolutionFields {
 public:
  template <class Self = ConvolutionFields>
  static constexpr auto fields() {
    return std::tuple{field("pre_padding", &Self::pre_padding_, kRequired),
                      field("post_padding", &Self::post_padding_, kRequired),
                      field("stride", &Self::stride_, kRequired),
                      field("dilation", &Self::dilation_, kRequired),
                      field("math_mode", &Self::convolution_mode_, kRequired)};
  }
  const std::vector<int64_t>& get_pre_padding() const { return pre_padding_; }
  const std::vector<int64_t>& get_post_padding() const { return post_padding_; }
  const std::vector<int64_t>& get_stride() const { return stride_; }
  const std::vector<int64_t>& get_dilation() const { return dilation_; }
  ConvolutionMode_t get_convolution_mode() const { return convolution_mode_; }

 protected:
  std::vector<int64_t> pre_padding_, post_padding_, stride_, dilation_;
  ConvolutionMode_t convolution_mode_ = ConvolutionMode_t::CROSS_CORRELATION;
};

template <class Derived>
class ConvolutionAttributes : public Attributes<Derived>, public ConvolutionFields {
 public:
  /// The same padding before and after.
  Derived& set_padding(std::vector<int64_t> value) {
    pre_padding_ = value;
    return set_post_padding(std::move(value));
  }
  Derived& set_pre_padding(std::vector<int64_t> value) {
    pre_padding_ = std::move(value);
    return this->self();
  }
  Derived& set_post_padding(std::vector<int64_t> value) {
    post_padding_ = std::move(value);
    return this->self();
  }
  Derived& set_stride(std::vector<int64_t> value) {
    stride_ = std::move(value);
    return this->self();
  }
  Derived& set_dilation(std::vector<int64_t> value) {
    dilation_ = std::move(value);
    return this->self();
  }
  Derived& set_convolution_mode(ConvolutionMode_t mode) {
    convolution_mode_ = mode;
    return this->self();
  }
};

/// Y[n, k, p...] = sum over c, r... of X[n, g C + c, p stride + r dilation - pre_padding] W[k, c,
/// r...], X read as 0 outside. X [N, C groups, spatial...], W [K, C, window...], Y [N, K, 1 + (x +
/// pre + post - (dilation (w - 1) + 1)) / stride]. The number of groups is X's channels over W's;
/// group g = k groups / K. ConvolutionMode_t::CONVOLUTION flips the window. Y's strides, unless
/// set, have the channel fastest (NHWC).
class Conv_fprop_attributes : public ConvolutionAttributes<Conv_fprop_attributes> {
 public:
  static constexpr std::string_view kTag = "CONV_FPROP";
  enum Input : size_t { X, W };
  enum Output : size_t { Y };
  static constexpr Port kInputs[]{Port{"X", "image"}, Port{"W", "weight"}};
  static constexpr Port kOutputs[]{Port{"Y", ""}};
};

/// The gradient of a forward convolution, with the same fields, for its image: DX = sum over the
/// elements of Y that read it of DY times the element of W it was read with; 0 where none did. DX's
/// dims are the image's and must be set: with a stride, images of several sizes give the same DY.
/// Its strides, unless set, have the channel fastest (NHWC).
class Conv_dgrad_attributes : public ConvolutionAttributes<Conv_dgrad_attributes> {
 public:
  static constexpr std::string_view kTag = "CONV_DGRAD";
  enum Input : size_t { DY, W };
  enum Output : size_t { DX };
  static constexpr Port kInputs[]{Port{"DY", "loss"}, Port{"W", "filter"}};
  static constexpr Port kOutputs[]{Port{"DX", ""}};
};

/// The gradient of a forward convolution, with the same fields, for its filter: DW[k, c, r] = sum
/// over n, p of DY[n, k, p] times the element of X that it read with W[k, c, r]. DW's dims are the
/// filter's and must be set; its strides, unless set, have the channel fastest.
class Conv_wgrad_attributes : public ConvolutionAttributes<Conv_wgrad_attributes> {
 public:
  static constexpr std::string_view kTag = "CONV_WGRAD";
  enum Input : size_t { DY, X };
  enum Output : size_t { DW };
  static constexpr Port kInputs[]{Port{"DY", "loss"}, Port{"X", "image"}};
  static constexpr Port kOutputs[]{Port{"DW", ""}};
};

}  // namespace warploom::graph
