#include "harness/describe.h"

#include <random>

#include "harness/element.h"
#include "harness/layout.h"

namespace warploom::test {

graph::Graph describe(DataType_t io, DataType_t compute) {
  graph::Graph graph;
  graph.set_io_data_type(io).set_intermediate_data_type(compute).set_compute_data_type(compute);
  return graph;
}

graph::TensorPtr input(graph::Graph& graph, const std::string& name, const Dims& dims,
                       const Dims& strides, DataType_t type) {
  return graph.tensor(
      graph::Tensor_attributes().set_name(name).set_dim(dims).set_stride(strides).set_data_type(
          type));
}

graph::TensorPtr input(graph::Graph& graph, const std::string& name, const Dims& dims,
                       const std::string& layout, DataType_t type) {
  return input(graph, name, dims, strides_of_layout(layout, dims), type);
}

void output(const graph::TensorPtr& tensor, const Dims& dims, const std::string& layout,
            DataType_t type) {
  tensor->set_output(true);
  if (!dims.empty()) tensor->set_dim(dims);
  if (!layout.empty()) tensor->set_stride(strides_of_layout(layout, dims));
  if (type != DataType_t::NOT_SET) tensor->set_data_type(type);
}

int64_t volume(const Dims& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

Values generate(const Dims& dims, const std::function<double(const Dims&)>& value) {
  Values values;
  Dims index(dims.size(), 0);
  const int64_t count = volume(dims);
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(value(index));
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
  return values;
}

Values random_values(const Dims& dims, DataType_t type, uint64_t seed, double low, double high) {
  // The distributions of the standard library differ between its implementations; the engine does
  // not.
  std::mt19937_64 engine(seed);
  Values values(static_cast<size_t>(volume(dims)));
  for (double& value : values)
    value = round_to(low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53, type);
  return values;
}

Values random_integers(const Dims& dims, uint64_t seed, int64_t low, int64_t high) {
  std::mt19937_64 engine(seed);
  Values values(static_cast<size_t>(volume(dims)));
  for (double& value : values)
    value = static_cast<double>(
        low + static_cast<int64_t>(engine() % static_cast<uint64_t>(high - low + 1)));
  return values;
}

}  // namespace warploom::test
