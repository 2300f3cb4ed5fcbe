#pragma once
/// Graphs of one form and many sizes, with what they compute written out as loops over doubles.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <warploom/graph.h>

#include "harness/describe.h"

namespace warploom::test {

using Random = std::mt19937;

/// Tensors in memory, inputs first; the uid of each is its position plus one.
struct Shapes {
  std::vector<Dims> dims, strides;
};

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string name() const = 0;
  virtual DataType_t type() const { return DataType_t::FLOAT; }
  virtual size_t input_count() const = 0;
  /// The dims that a graph is described with, and any others.
  virtual std::vector<Dims> first_dims() const = 0;
  virtual std::vector<Dims> random_dims(Random& random) const = 0;
  /// `tensors`: with uid, dims and strides.
  virtual void describe(graph::Graph& graph,
                        const std::vector<graph::Tensor_attributes>& tensors) const = 0;
  /// The outputs' values.
  virtual std::vector<Values> expected(const std::vector<Dims>& dims,
                                       const std::vector<Values>& inputs) const = 0;

 protected:
  /// Gives a result the place of a tensor in memory.
  static void keep(const graph::TensorPtr& result, const graph::Tensor_attributes& tensor);
};

/// Convolution, bias and ReLU; a chain of two products with AMAX of the last; causal attention with
/// statistics; a multi-step graph full of views; reductions over different axes; pooling,
/// concatenation and random numbers.
std::vector<std::unique_ptr<Family>> all_families();

/// Row-major, with gaps, transposed, over every second element, odd strides where dims are 1.
Shapes random_strides(const Family& family, std::vector<Dims> dims, Random& random);
Shapes packed(std::vector<Dims> dims);

/// A graph of these shapes, not yet built.
graph::Graph describe_family(const Family& family, const Shapes& shapes);

struct FamilyRun {
  error_t error;
  std::string mismatch;  ///< of results or of memory that nobody may touch; "" if there is none
  std::vector<Values> outputs;
};
/// Executes on poisoned memory, misaligned by some elements, with the workspace of exactly the size
/// asked for: with the shapes as overrides, or as those of the graph. On cpu() without a handle.
FamilyRun run_family(const Family& family, const graph::Graph& graph, const Shapes& shapes,
                     bool with_overrides, int misaligned_elements = 1, handle_t handle = nullptr);

}  // namespace warploom::test
