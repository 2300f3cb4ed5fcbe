#pragma once
/// Pooling and its gradient.
#include <array>
#include <optional>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// What both directions are told. Each list has one entry per spatial dimension.
class ResampleFields {
 public:
  template <class Self = ResampleFields>
  static constexpr auto fields() {
    return std::tuple{field("resample_mode", &Self::resample_mode_, kRequired),
                      field("padding_mode", &Self::padding_mode_, kRequired),
                      field("pre_padding", &Self::pre_padding_, kRequired),
                      field("post_padding", &Self::post_padding_, kRequired),
                      field("stride", &Self::stride_, kRequired),
                      field("window", &Self::window_, kRequired)};
  }
  ResampleMode_t get_resample_mode() const { return resample_mode_; }
  PaddingMode_t get_padding_mode() const { return padding_mode_; }
  const std::vector<int64_t>& get_pre_padding() const { return pre_padding_; }
  const std::vector<int64_t>& get_post_padding() const { return post_padding_; }
  const std::vector<int64_t>& get_stride() const { return stride_; }
  const std::vector<int64_t>& get_window() const { return window_; }

 protected:
  /// -1, which no list accepts, where the fraction is no whole number.
  template <class Fraction>
  static std::vector<int64_t> whole(const std::vector<Fraction>& values) {
    std::vector<int64_t> result;
    for (const Fraction& value : values)
      result.push_back(value.denominator != 0 && value.numerator % value.denominator == 0
                           ? value.numerator / value.denominator
                           : -1);
    return result;
  }

  ResampleMode_t resample_mode_ = ResampleMode_t::NOT_SET;
  PaddingMode_t padding_mode_ = PaddingMode_t::NOT_SET;
  std::vector<int64_t> pre_padding_, post_padding_, stride_, window_;
};

template <class Derived>
class ResampleAttributes : public Attributes<Derived>, public ResampleFields {
 public:
  Derived& set_resampling_mode(ResampleMode_t value) {
    resample_mode_ = value;
    return this->self();
  }
  Derived& set_padding_mode(PaddingMode_t value) {
    padding_mode_ = value;
    return this->self();
  }
  Derived& set_pre_padding(const std::vector<int64_t>& value) {
    pre_padding_ = value;
    return this->self();
  }
  Derived& set_post_padding(const std::vector<int64_t>& value) {
    post_padding_ = value;
    return this->self();
  }
  Derived& set_stride(const std::vector<int64_t>& value) {
    stride_ = value;
    return this->self();
  }
  Derived& set_window(const std::vector<int64_t>& value) {
    window_ = value;
    return this->self();
  }
  // Whole numbers as fractions: structs with numerator and denominator, as cudnnFraction_t.
  template <class Fraction>
  Derived& set_pre_padding(const std::vector<Fraction>& value) {
    return set_pre_padding(whole(value));
  }
  template <class Fraction>
  Derived& set_post_padding(const std::vector<Fraction>& value) {
    return set_post_padding(whole(value));
  }
  template <class Fraction>
  Derived& set_stride(const std::vector<Fraction>& value) {
    return set_stride(whole(value));
  }
  template <class Fraction>
  Derived& set_window(const std::vector<Fraction>& value) {
    return set_window(whole(value));
  }
};

/// Pooling: every element of Y [N, C, 1 + (x + pre + post - window) / stride] is the maximum
/// (MAXPOOL) or the mean (AVGPOOL_EXCLUDE_PADDING: of the elements inside X alone;
/// AVGPOOL_INCLUDE_PADDING: of the whole window) of a window of X [N, C, spatial...]. Outside, X
/// reads as -infinity, 0 or its nearest element, as the padding mode says. Index, for MAXPOOL with
/// generate_index, has Y's dims and holds the position of the maximum in its window, row-major; of
/// equal ones the first. NaN is greater than any number. Strides, unless set, have the channel
/// fastest (NHWC).
class Resample_attributes : public ResampleAttributes<Resample_attributes> {
 public:
  static constexpr std::string_view kTag = "RESAMPLE";
  enum Input : size_t { X };
  enum Output : size_t { Y, Index };
  static constexpr Port kInputs[]{Port{"X", "input"}};
  static constexpr Port kOutputs[]{Port{"Y", ""}, Port{"Index", "", kOptional}};
  template <class Self = Resample_attributes>
  static constexpr auto fields() {
    return std::tuple_cat(std::tuple{field("generate_index", &Self::generate_index_, kRequired)},
                          ResampleFields::fields());
  }

  /// Must be set.
  Resample_attributes& set_generate_index(bool value) {
    generate_index_ = value;
    return *this;
  }
  /// Deprecated spelling of set_generate_index(!value).
  Resample_attributes& set_is_inference(bool value) { return set_generate_index(!value); }
  std::optional<bool> get_generate_index() const { return generate_index_; }

 private:
  std::optional<bool> generate_index_;
};

/// The gradient of pooling with the same fields: each element of DY is given to the element of X
/// that Index names (MAXPOOL), or in equal parts to those it is the mean of. What falls on padding
/// is lost, or with EDGE_VAL_PAD given to the edge. DX's dims are X's and must be set; its strides,
/// unless set, have the channel fastest. Index is what the forward operation gave, for MAXPOOL
/// alone.
class Resample_backward_attributes : public ResampleAttributes<Resample_backward_attributes> {
 public:
  static constexpr std::string_view kTag = "RESAMPLE_BWD";
  enum Input : size_t { DY, Index };
  enum Output : size_t { DX };
  static constexpr Port kInputs[]{Port{"DY", "loss"}, Port{"Index", "index", kOptional}};
  static constexpr Port kOutputs[]{Port{"DX", ""}};
};

}  // namespace warploom::graph
