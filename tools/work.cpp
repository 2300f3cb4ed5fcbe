#include "tools/work.h"

#include <algorithm>

#include "ops/convolution_parts.h"

namespace warploom::tools {
namespace {

double volume(const ir::FrozenGraph& graph, ir::TensorId id) {
  return static_cast<double>(graph.tensor(id).shape.volume());
}

/// Pairs of query and key that the diagonal band leaves.
double visible_pairs(const graph::SDPA_attributes& attention, int64_t queries, int64_t keys) {
  const int64_t shift =
      attention.get_diagonal_alignment() == DiagonalAlignment_t::BOTTOM_RIGHT ? keys - queries : 0;
  double pairs = 0;
  for (int64_t query = 0; query < queries; ++query) {
    int64_t first = 0, end = keys;
    if (const auto bound = attention.get_left_bound()) {
      first = std::max(first, query + shift - *bound + 1);
    }
    if (const auto bound = attention.get_right_bound()) {
      end = std::min(end, query + shift + *bound + 1);
    }
    pairs += static_cast<double>(std::max<int64_t>(end - first, 0));
  }
  return pairs;
}

double operations_of(const ir::Node& node, const ir::FrozenGraph& graph) {
  if (std::holds_alternative<graph::Matmul_attributes>(node.operation)) {
    const int64_t inner = graph.tensor(node.inputs[graph::Matmul_attributes::A]).shape.dims.back();
    return 2 * static_cast<double>(inner) * volume(graph, node.outputs[0]);
  }
  if (const auto parts = ops::find_parts(node.operation)) {
    const ir::TensorId filter = parts->w.of(node.inputs, node.outputs);
    const double filters = static_cast<double>(graph.tensor(filter).shape.dims[0]);
    return filters == 0 ? 0
                        : 2 * volume(graph, parts->y.of(node.inputs, node.outputs)) *
                              volume(graph, filter) / filters;
  }
  if (const auto* attention = std::get_if<graph::SDPA_attributes>(&node.operation)) {
    using Attention = graph::SDPA_attributes;
    const std::vector<int64_t>& q = graph.tensor(node.inputs[Attention::Q]).shape.dims;
    const std::vector<int64_t>& k = graph.tensor(node.inputs[Attention::K]).shape.dims;
    const std::vector<int64_t>& v = graph.tensor(node.inputs[Attention::V]).shape.dims;
    return 2 * static_cast<double>(q[0] * q[1] * (q[3] + v[3])) *
           visible_pairs(*attention, q[2], k[2]);
  }
  return 0;
}

}  // namespace

Work work_of(const ir::FrozenGraph& graph) {
  Work work;
  for (const ir::Node& node : graph.nodes) work.operations += operations_of(node, graph);
  for (const ir::Tensor& tensor : graph.tensors) {
    if (tensor.is_virtual || tensor.is_pass_by_value || tensor.value) continue;
    work.bytes +=
        static_cast<double>(tensor.shape.volume() * detail::get_data_type_size(tensor.data_type));
  }
  return work;
}

}  // namespace warploom::tools
