#pragma once
/// What the smoke tests share: values, and the beginnings of graphs.
#include <cstdint>
#include <vector>

#include <warploom/graph.h>

#include "harness/layout.h"
#include "harness/tensor_memory.h"

namespace warploom::test {

/// `count` values in [-1, 1), spread without repeating soon; exact in float.
inline Values spread_values(int64_t count, int seed) {
  Values values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = ((i * 37 + seed * 101) % 256 - 128) / 128.0;
  return values;
}

inline graph::Graph float_graph() {
  graph::Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
  graph.set_compute_data_type(DataType_t::FLOAT);
  return graph;
}

inline graph::TensorPtr input(graph::Graph& graph, const char* name,
                              const std::vector<int64_t>& dims) {
  return graph.tensor(graph::Tensor_attributes().set_name(name).set_dim(dims).set_stride(
      strides_of_layout("row_major", dims)));
}

/// Makes `tensor` a row-major output.
inline void keep(const graph::TensorPtr& tensor, const std::vector<int64_t>& dims) {
  tensor->set_output(true).set_dim(dims).set_stride(strides_of_layout("row_major", dims));
}

inline graph::Pointwise_attributes mode(PointwiseMode_t value) {
  return graph::Pointwise_attributes().set_mode(value);
}

}  // namespace warploom::test
