#pragma once
#include <array>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// S = exp(P - Max) / Sum_exp along one axis. Max is the greatest of P along it and Sum_exp the sum
/// of exp(P - Max); Stats = Max + ln(Sum_exp). SINK, which broadcasts to the dims of these, takes
/// part in Max and Sum_exp as if it were one more element. Where all are -inf: S = 0, Sum_exp = 0,
/// Max = Stats = -inf. S has P's dims and strides, the statistics P's dims with 1 along the axis.
class Softmax_attributes : public Attributes<Softmax_attributes> {
 public:
  static constexpr std::string_view kTag = "SOFTMAX";
  enum Input : size_t { P, SINK };
  enum Output : size_t { S, Stats, Max, Sum_exp };
  static constexpr Port kInputs[]{Port{"P", "input"}, Port{"SINK", "sink", kOptional}};
  static constexpr Port kOutputs[]{Port{"S", ""}, Port{"Stats", "stats", kOptional},
                                   Port{"Max", "max", kOptional},
                                   Port{"Sum_exp", "sum_exp", kOptional}};
  template <class Self = Softmax_attributes>
  static constexpr auto fields() {
    return std::tuple{field("axis", &Self::axis_)};
  }

  /// Negative counts from the last dim; that is the default.
  Softmax_attributes& set_axis(int64_t value) {
    axis_ = value;
    return *this;
  }
  Softmax_attributes& set_sink(TensorPtr value) { return set_input(SINK, std::move(value)); }
  /// Results beside S, each written to the tensor given.
  Softmax_attributes& set_stats(TensorPtr value) {
    return set_output_tensor(Stats, std::move(value));
  }
  Softmax_attributes& set_max(TensorPtr value) { return set_output_tensor(Max, std::move(value)); }
  Softmax_attributes& set_sum_exp(TensorPtr value) {
    return set_output_tensor(Sum_exp, std::move(value));
  }
  int64_t get_axis() const { return axis_; }

 private:
  int64_t axis_ = -1;
};

}  // namespace warploom::graph
