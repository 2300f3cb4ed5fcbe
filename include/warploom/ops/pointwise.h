#pragma once
#include <array>
#include <optional>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// OUT_0 = mode(IN_0, IN_1, IN_2), element by element, inputs broadcast by the usual right-aligned
/// rules. The table of modes, with arity and formula, is in docs/ops/pointwise_modes.md.
/// *_BWD modes: IN_0 is the incoming gradient and IN_1 the forward *input*. BINARY_SELECT: IN_2 ?
/// IN_0 : IN_1. GEN_INDEX: the coordinate along `axis`; its input only gives the shape.
class Pointwise_attributes : public Attributes<Pointwise_attributes> {
 public:
  static constexpr std::string_view kTag = "POINTWISE";
  enum Input : size_t { IN_0, IN_1, IN_2 };
  enum Output : size_t { OUT_0 };
  static constexpr Port kInputs[]{Port{"IN_0", "a"}, Port{"IN_1", "b", kOptional},
                                  Port{"IN_2", "c", kOptional}};
  static constexpr Port kOutputs[]{Port{"OUT_0", ""}};
  template <class Self = Pointwise_attributes>
  static constexpr auto fields() {
    return std::tuple{field("mode", &Self::mode_, kRequired),
                      field("axis", &Self::axis_),
                      field("relu_lower_clip", &Self::relu_lower_clip_),
                      field("relu_upper_clip", &Self::relu_upper_clip_),
                      field("relu_lower_clip_slope", &Self::relu_lower_clip_slope_),
                      field("swish_beta", &Self::swish_beta_),
                      field("elu_alpha", &Self::elu_alpha_),
                      field("softplus_beta", &Self::softplus_beta_)};
  }

  Pointwise_attributes& set_mode(PointwiseMode_t value) {
    mode_ = value;
    return *this;
  }
  /// GEN_INDEX only.
  Pointwise_attributes& set_axis(int64_t value) {
    axis_ = value;
    return *this;
  }
  /// RELU: below `lower` the result is lower + slope (x - lower); above `upper` it is upper. Unset:
  /// 0, no upper clip, 0.
  Pointwise_attributes& set_relu_lower_clip(float value) {
    relu_lower_clip_ = value;
    return *this;
  }
  Pointwise_attributes& set_relu_upper_clip(float value) {
    relu_upper_clip_ = value;
    return *this;
  }
  Pointwise_attributes& set_relu_lower_clip_slope(float value) {
    relu_lower_clip_slope_ = value;
    return *this;
  }
  /// Unset: 1.
  Pointwise_attributes& set_swish_beta(float value) {
    swish_beta_ = value;
    return *this;
  }
  /// Unset: 1.
  Pointwise_attributes& set_elu_alpha(float value) {
    elu_alpha_ = value;
    return *this;
  }
  /// Unset: 1.
  Pointwise_attributes& set_softplus_beta(float value) {
    softplus_beta_ = value;
    return *this;
  }
  PointwiseMode_t get_mode() const { return mode_; }
  std::optional<int64_t> get_axis() const { return axis_; }
  float get_relu_lower_clip() const { return relu_lower_clip_.value_or(0.0f); }
  std::optional<float> get_relu_upper_clip() const { return relu_upper_clip_; }
  float get_relu_lower_clip_slope() const { return relu_lower_clip_slope_.value_or(0.0f); }
  float get_swish_beta() const { return swish_beta_.value_or(1.0f); }
  float get_elu_alpha() const { return elu_alpha_.value_or(1.0f); }
  float get_softplus_beta() const { return softplus_beta_.value_or(1.0f); }

 private:
  PointwiseMode_t mode_ = PointwiseMode_t::NOT_SET;
  std::optional<int64_t> axis_;
  std::optional<float> relu_lower_clip_, relu_upper_clip_, relu_lower_clip_slope_, swish_beta_,
      elu_alpha_, softplus_beta_;
};

}  // namespace warploom::graph
