#pragma once
/// A random graph that is valid by construction, with values for its inputs.
#include <string>
#include <vector>

#include <warploom/graph.h>

#include "fuzz/seeds.h"
#include "harness/plan_runner.h"

namespace warploom::test {

class RandomGraph {
 public:
  enum class Operations {
    kContinuous,  ///< those whose results follow their operands: no comparisons, no quotients
    kAll,         ///< all there are; bounds are not kept
  };
  explicit RandomGraph(uint32_t seed, Operations operations = Operations::kContinuous);

  struct Output {
    graph::TensorPtr tensor;
    /// No value on the way to this output is greater in magnitude: the scale of its errors.
    double bound;
  };

  graph::Graph graph;
  Inputs inputs;
  std::vector<Output> outputs;
  std::string description;  ///< the operations in order, for a failure's message

 private:
  using Dims = std::vector<int64_t>;
  /// A tensor of the graph so far; no element of it, or before it, exceeds `bound`.
  struct Operand {
    graph::TensorPtr tensor;
    Dims dims;
    double bound;
  };

  Operand add_input(const Dims& dims);
  Operand add_step(const Operand& x);
  Operand any_pointwise(const Operand& x);
  Operand attention(const Operand& x);
  Operand unary(const Operand& x);
  Operand binary(const Operand& x);
  Operand matmul(const Operand& x);
  Operand convolution(const Operand& x);
  Operand image_gradient(const Operand& dy);
  Operand filter_gradient(const Operand& x);
  Operand pooling(const Operand& x);
  Operand reduction(const Operand& x);
  Operand normalization(const Operand& x);
  Operand transpose(const Operand& x);
  Operand slice(const Operand& x);
  Operand reshape(const Operand& x);
  Operand concatenate(const Operand& x);
  Operand dropout(const Operand& x);
  Dims strides(const Dims& dims);
  void keep(const Operand& result);

  Draw draw_;
  Operations operations_;
  DataType_t stored_;
};

}  // namespace warploom::test
