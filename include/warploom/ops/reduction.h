#pragma once
#include <array>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// Y = X reduced over every axis where Y's dim is 1 and X's is not. Y's dims default to X's
/// (nothing is reduced): set them. ADD, MUL, MIN, MAX, AMAX = max |x|, AVG = mean, NORM1 = sum |x|,
/// NORM2 = sqrt(sum x^2), MUL_NO_ZEROS = product of non-zeros. NaN propagates. A reduction over no
/// elements gives ADD, NORM1, NORM2, AMAX 0; MUL, MUL_NO_ZEROS 1; MIN +inf; MAX -inf; AVG NaN. Y's
/// strides, unless set, have dimension 1 fastest (NHWC).
class Reduction_attributes : public Attributes<Reduction_attributes> {
 public:
  static constexpr std::string_view kTag = "REDUCTION";
  enum Input : size_t { X };
  enum Output : size_t { Y };
  static constexpr Port kInputs[]{Port{"X", "input"}};
  static constexpr Port kOutputs[]{Port{"Y", ""}};
  template <class Self = Reduction_attributes>
  static constexpr auto fields() {
    return std::tuple{field("mode", &Self::mode_, kRequired),
                      field("is_deterministic", &Self::is_deterministic_)};
  }

  Reduction_attributes& set_mode(ReductionMode_t value) {
    mode_ = value;
    return *this;
  }
  /// Asks for the same bits on every run. Plans without the NONDETERMINISTIC note give them anyway.
  Reduction_attributes& set_is_deterministic(bool value) {
    is_deterministic_ = value;
    return *this;
  }
  ReductionMode_t get_mode() const { return mode_; }
  bool get_is_deterministic() const { return is_deterministic_; }

 private:
  ReductionMode_t mode_ = ReductionMode_t::NOT_SET;
  bool is_deterministic_ = false;
};

}  // namespace warploom::graph
