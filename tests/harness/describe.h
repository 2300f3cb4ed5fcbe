#pragma once
/// Short ways to write graphs and data in tests.
#include <functional>
#include <string>
#include <vector>

#include <warploom/graph.h>

#include "harness/tensor_memory.h"

namespace warploom::test {

using Dims = std::vector<int64_t>;

/// A graph whose inputs and outputs are of type `io`, computing and carrying in `compute`.
graph::Graph describe(DataType_t io = DataType_t::FLOAT, DataType_t compute = DataType_t::FLOAT);

/// An input; its strides by name (harness/layout.h) or one by one. NOT_SET is the graph's io type.
graph::TensorPtr input(graph::Graph& graph, const std::string& name, const Dims& dims,
                       const std::string& layout = "row_major",
                       DataType_t type = DataType_t::NOT_SET);
graph::TensorPtr input(graph::Graph& graph, const std::string& name, const Dims& dims,
                       const Dims& strides, DataType_t type = DataType_t::NOT_SET);
/// Marks a result as an output, of this layout and type where given.
void output(const graph::TensorPtr& tensor, const Dims& dims = {}, const std::string& layout = "",
            DataType_t type = DataType_t::NOT_SET);

inline graph::Pointwise_attributes pointwise(PointwiseMode_t mode) {
  return graph::Pointwise_attributes().set_mode(mode);
}
inline graph::Reduction_attributes reduction(ReductionMode_t mode) {
  return graph::Reduction_attributes().set_mode(mode);
}

/// Row-major indexing of Values.
class View {
 public:
  View(const Values& values, Dims dims) : values_(&values), dims_(std::move(dims)) {}
  template <class... Index>
  double operator()(Index... index) const {
    int64_t position = 0;
    size_t axis = 0;
    ((position = position * dims_[axis++] + index), ...);
    return (*values_)[static_cast<size_t>(position)];
  }

 private:
  const Values* values_;
  Dims dims_;
};

int64_t volume(const Dims& dims);
/// One value for each element, in row-major order of its index.
Values generate(const Dims& dims, const std::function<double(const Dims& index)>& value);
/// Uniform in [low, high), rounded to `type`; the same for the same seed.
Values random_values(const Dims& dims, DataType_t type, uint64_t seed, double low = -1,
                     double high = 1);
/// Whole numbers from low to high, both included.
Values random_integers(const Dims& dims, uint64_t seed, int64_t low, int64_t high);

}  // namespace warploom::test
