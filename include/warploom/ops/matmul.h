#pragma once
#include <array>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// C[..., m, n] = sum over k of A[..., m, k] B[..., k, n].
/// A and B have the same rank, 2 or more; a batch dimension is equal or a divisor of the other
/// operand's (each entry then serves a run of consecutive ones, as in grouped-query attention; 1
/// broadcasts). Transposition is expressed by strides. C's strides, unless set, are row-major. M, N
/// and K overrides are int32 tensors [batch..., 1, 1] with the size in use of each batch; elements
/// beyond it are read as `padding` (and written as computed from that).
class Matmul_attributes : public Attributes<Matmul_attributes> {
 public:
  static constexpr std::string_view kTag = "MATMUL";
  enum Input : size_t { A, B, M_override, N_override, K_override };
  enum Output : size_t { C };
  static constexpr Port kInputs[]{Port{"A", "A"}, Port{"B", "B"}, Port{"M_override", "", kOptional},
                                  Port{"N_override", "", kOptional},
                                  Port{"K_override", "", kOptional}};
  static constexpr Port kOutputs[]{Port{"C", ""}};
  template <class Self = Matmul_attributes>
  static constexpr auto fields() {
    return std::tuple{field("padding_value", &Self::padding_)};
  }

  Matmul_attributes& set_m_override(TensorPtr tensor) {
    return set_input(M_override, std::move(tensor));
  }
  Matmul_attributes& set_n_override(TensorPtr tensor) {
    return set_input(N_override, std::move(tensor));
  }
  Matmul_attributes& set_k_override(TensorPtr tensor) {
    return set_input(K_override, std::move(tensor));
  }
  Matmul_attributes& set_padding(double value) {
    padding_ = value;
    return *this;
  }
  double get_padding() const { return padding_; }

 private:
  double padding_ = 0.0;
};

}  // namespace warploom::graph
