#pragma once
/// Normalizations of rows, and their gradients: layer, adaptive layer, root mean square, instance.
#include <array>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// Inputs and settings of a forward normalization. EPSILON has one element, MEAN and INV_VARIANCE
/// are results of the TRAINING phase alone.
template <class Derived>
class Norm_forward_attributes : public Attributes<Derived> {
 public:
  enum Input : size_t { X, SCALE, BIAS, EPSILON };
  static constexpr Port kInputs[]{Port{"X", "input"}, Port{"SCALE", "scale"},
                                  Port{"BIAS", "bias", kOptional}, Port{"EPSILON", "epsilon"}};
  template <class Self = Norm_forward_attributes>
  static constexpr auto fields() {
    return std::tuple{field("forward_phase", &Self::forward_phase_, kRequired)};
  }

  Derived& set_forward_phase(NormFwdPhase_t value) {
    forward_phase_ = value;
    return this->self();
  }
  Derived& set_epsilon(TensorPtr value) { return this->set_input(EPSILON, std::move(value)); }
  Derived& set_epsilon(float value) {
    return set_epsilon(std::make_shared<Tensor_attributes>(value));
  }
  NormFwdPhase_t get_forward_phase() const { return forward_phase_; }

 private:
  NormFwdPhase_t forward_phase_ = NormFwdPhase_t::NOT_SET;
};

/// One that subtracts the mean.
template <class Derived>
class Centered_norm_attributes : public Norm_forward_attributes<Derived> {
 public:
  enum Output : size_t { Y, MEAN, INV_VARIANCE };
  static constexpr Port kOutputs[]{Port{"Y", ""}, Port{"MEAN", "", kOptional},
                                   Port{"INV_VARIANCE", "", kOptional}};
};

/// Inputs and results of the gradient of a normalization. Without MEAN and INV_VARIANCE they are
/// computed from X, with EPSILON.
template <class Derived>
class Norm_backward_attributes : public Attributes<Derived> {
 public:
  enum Input : size_t { DY, X, SCALE, MEAN, INV_VARIANCE, EPSILON };
  enum Output : size_t { DX, DSCALE, DBIAS };
  static constexpr Port kInputs[]{Port{"DY", "grad"},
                                  Port{"X", "input"},
                                  Port{"SCALE", "scale"},
                                  Port{"MEAN", "mean", kOptional},
                                  Port{"INV_VARIANCE", "inv_variance", kOptional},
                                  Port{"EPSILON", "epsilon", kOptional}};
  static constexpr Port kOutputs[]{Port{"DX", ""}, Port{"DSCALE", ""}, Port{"DBIAS", ""}};
  template <class = void>
  static constexpr auto fields() {
    return std::tuple{};
  }

  Derived& set_saved_mean_and_inv_variance(TensorPtr mean, TensorPtr inv_variance) {
    this->set_input(MEAN, std::move(mean));
    return this->set_input(INV_VARIANCE, std::move(inv_variance));
  }
  Derived& set_epsilon(TensorPtr value) { return this->set_input(EPSILON, std::move(value)); }
};

/// Y = (X - MEAN) INV_VARIANCE SCALE + BIAS, INV_VARIANCE = 1 / sqrt(variance + EPSILON), over the
/// axes where SCALE's dim is not 1. SCALE is aligned right to X's dims, BIAS repeats over SCALE's.
/// Y has X's dims and strides; MEAN and INV_VARIANCE have X's dims with 1 on those axes.
class Layernorm_attributes : public Centered_norm_attributes<Layernorm_attributes> {
 public:
  static constexpr std::string_view kTag = "LAYER_NORM";
};
/// DX, DSCALE and DBIAS of layernorm from DY; DSCALE and DBIAS have SCALE's dims.
class Layernorm_backward_attributes
    : public Norm_backward_attributes<Layernorm_backward_attributes> {
 public:
  static constexpr std::string_view kTag = "LAYER_NORM_BPROP";
};

/// Layernorm with a SCALE and BIAS for every entry of dim 0, which is never reduced over.
class AdaLayernorm_attributes : public Centered_norm_attributes<AdaLayernorm_attributes> {
 public:
  static constexpr std::string_view kTag = "ADA_LAYER_NORM";
};
class AdaLayernorm_backward_attributes
    : public Norm_backward_attributes<AdaLayernorm_backward_attributes> {
 public:
  static constexpr std::string_view kTag = "ADA_LAYER_NORM_BPROP";
};

/// Layernorm over the dims from 2 on, X [N, C, ...]; MEAN and INV_VARIANCE [N, C, 1, ...], SCALE
/// and BIAS [1, C, 1, ...].
class Instancenorm_attributes : public Centered_norm_attributes<Instancenorm_attributes> {
 public:
  static constexpr std::string_view kTag = "INSTANCE_NORM";
};
class Instancenorm_backward_attributes
    : public Norm_backward_attributes<Instancenorm_backward_attributes> {
 public:
  static constexpr std::string_view kTag = "INSTANCE_NORM_BPROP";
};

/// Y = X INV_VARIANCE SCALE + BIAS, INV_VARIANCE = 1 / sqrt(mean of X^2 + EPSILON), over the axes
/// where SCALE's dim is not 1.
class Rmsnorm_attributes : public Norm_forward_attributes<Rmsnorm_attributes> {
 public:
  static constexpr std::string_view kTag = "RMS_NORM";
  enum Output : size_t { Y, INV_VARIANCE };
  static constexpr Port kOutputs[]{Port{"Y", ""}, Port{"INV_VARIANCE", "", kOptional}};

  Rmsnorm_attributes& set_bias(TensorPtr value) { return set_input(BIAS, std::move(value)); }
};
class Rmsnorm_backward_attributes : public Attributes<Rmsnorm_backward_attributes> {
 public:
  static constexpr std::string_view kTag = "RMS_NORM_BPROP";
  enum Input : size_t { DY, X, SCALE, INV_VARIANCE };
  enum Output : size_t { DX, DSCALE, DBIAS };
  static constexpr Port kInputs[]{Port{"DY", "grad"}, Port{"X", "input"}, Port{"SCALE", "scale"},
                                  Port{"INV_VARIANCE", "inv_variance"}};
  static constexpr Port kOutputs[]{Port{"DX", ""}, Port{"DSCALE", ""},
                                   Port{"DBIAS", "", kOptional}};
  template <class Self = Rmsnorm_backward_attributes>
  static constexpr auto fields() {
    return std::tuple{field("use_dbias", &Self::use_dbias_)};
  }

  /// Must be said: whether DBIAS is wanted.
  Rmsnorm_backward_attributes& has_dbias(bool value) {
    use_dbias_ = value;
    return *this;
  }
  std::optional<bool> get_use_dbias() const { return use_dbias_; }

 private:
  std::optional<bool> use_dbias_;
};

}  // namespace warploom::graph
