#include "tools/random_data.h"

#include <optional>
#include <random>

#include "tools/elements.h"

namespace warploom::tools {
namespace {

struct Range {
  double least, most;
};

/// The dimension that a tensor of sizes cuts, or 0 when it holds ordinary data.
int64_t dimension_cut_by(ir::TensorId id, const ir::FrozenGraph& graph) {
  const auto dim = [&](ir::TensorId tensor, int from_the_end) {
    const std::vector<int64_t>& dims = graph.tensor(tensor).shape.dims;
    return dims[dims.size() - static_cast<size_t>(from_the_end)];
  };
  for (const ir::Node& node : graph.nodes) {
    const auto reads = [&](size_t port) {
      return port < node.inputs.size() && node.inputs[port] == id;
    };
    if (std::holds_alternative<graph::SDPA_attributes>(node.operation)) {
      using Attention = graph::SDPA_attributes;
      if (reads(Attention::SEQ_LEN_Q)) return dim(node.inputs[Attention::Q], 2);
      if (reads(Attention::SEQ_LEN_KV)) return dim(node.inputs[Attention::K], 2);
    }
    if (std::holds_alternative<graph::SDPA_backward_attributes>(node.operation)) {
      using Attention = graph::SDPA_backward_attributes;
      if (reads(Attention::SEQ_LEN_Q)) return dim(node.inputs[Attention::Q], 2);
      if (reads(Attention::SEQ_LEN_KV)) return dim(node.inputs[Attention::K], 2);
    }
    if (std::holds_alternative<graph::Matmul_attributes>(node.operation)) {
      using Matmul = graph::Matmul_attributes;
      if (reads(Matmul::M_override)) return dim(node.inputs[Matmul::A], 2);
      if (reads(Matmul::N_override)) return dim(node.inputs[Matmul::B], 1);
      if (reads(Matmul::K_override)) return dim(node.inputs[Matmul::A], 1);
    }
  }
  return 0;
}

/// What memory is addressed with must lie within it: page numbers, and offsets of ragged tensors,
/// of which 0 is the one that always does.
std::optional<Range> range_of_addresses(ir::TensorId id, const ir::FrozenGraph& graph) {
  for (const ir::Tensor& tensor : graph.tensors)
    if (tensor.ragged_offset == id) return Range{0, 0};
  for (const ir::Node& node : graph.nodes) {
    using Attention = graph::SDPA_attributes;
    if (!std::holds_alternative<Attention>(node.operation)) continue;
    for (const auto& [table, container] : {std::pair{Attention::Page_table_K, Attention::K},
                                           {Attention::Page_table_V, Attention::V}})
      if (node.inputs[table] == id)
        return Range{0,
                     static_cast<double>(graph.tensor(node.inputs[container]).shape.dims[0] - 1)};
  }
  return std::nullopt;
}

Range range_of(DataType_t type, int64_t dimension_cut) {
  if (dimension_cut > 0) return {1, static_cast<double>(dimension_cut)};
  switch (type) {
    case DataType_t::INT8:
      return {-128, 127};
    case DataType_t::UINT8:
      return {0, 255};
    case DataType_t::INT32:
    case DataType_t::INT64:
      return {-8, 8};
    case DataType_t::BOOLEAN:
      return {0, 1};
    default:
      return {-1, 1};
  }
}

}  // namespace

void fill_randomly(TensorMemory& memory, const ir::FrozenGraph& graph, uint64_t seed) {
  const ir::Tensor& tensor = memory.tensor();
  const auto id = static_cast<ir::TensorId>(&tensor - graph.tensors.data());
  const Range range = range_of_addresses(id, graph).value_or(
      range_of(tensor.data_type, dimension_cut_by(id, graph)));
  std::seed_seq sequence{seed & 0xffffffff, seed >> 32, static_cast<uint64_t>(tensor.uid)};
  std::mt19937_64 generator(sequence);
  const bool is_whole = !is_floating_point(tensor.data_type);
  const double width = range.most - range.least + (is_whole ? 1 : 0);
  const std::array<std::span<const int64_t>, 1> layout{tensor.shape.strides};
  for_each_offset(tensor.shape.dims, layout, [&](int64_t offset) {
    // 53 random bits; std::uniform_real_distribution differs between standard libraries.
    const double value = range.least + width * (static_cast<double>(generator() >> 11) * 0x1p-53);
    store_element(tensor.data_type, memory.element(offset), is_whole ? std::floor(value) : value);
  });
}

}  // namespace warploom::tools
