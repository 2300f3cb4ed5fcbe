#include "fusion/tensor_class.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace warploom::fusion {

namespace {

/// Axes from the outermost to the innermost; a dim of size 1 keeps the place its stride declares.
/// "z" after an axis whose stride is 0, "+" at the end when the innermost is not contiguous.
std::string stride_order(const ir::Shape& shape) {
  std::vector<size_t> axes(shape.dims.size());
  std::iota(axes.begin(), axes.end(), size_t{0});
  std::stable_sort(axes.begin(), axes.end(),
                   [&](size_t a, size_t b) { return shape.strides[a] > shape.strides[b]; });
  std::string text;
  for (size_t axis : axes) {
    text += static_cast<char>('0' + axis);
    if (shape.strides[axis] == 0 && shape.dims[axis] > 1) text += 'z';
  }
  const bool is_contiguous = std::any_of(axes.begin(), axes.end(), [&](size_t axis) {
    return shape.strides[axis] == 1 && shape.dims[axis] > 1;
  });
  return shape.volume() > 1 && !is_contiguous ? text + '+' : text;
}

bool is_moved(const ir::FrozenGraph& graph, const ir::Tensor& tensor) {
  if (!tensor.is_virtual || tensor.producer == ir::kNoNode) return false;
  const graph::Operation& operation = graph.node(tensor.producer).operation;
  return std::holds_alternative<graph::Slice_attributes>(operation) ||
         std::holds_alternative<graph::Transpose_attributes>(operation) ||
         std::holds_alternative<graph::Reshape_attributes>(operation);
}

/// The largest power of two up to 16 bytes that divides the address of every contiguous run.
int64_t alignment_class(const ir::FrozenGraph& graph, const ir::Tensor& tensor) {
  const int64_t size = std::max<int64_t>(detail::get_data_type_size(tensor.data_type), 1);
  // What a movement made may be a view that begins anywhere in its source.
  int64_t bytes = is_moved(graph, tensor) ? size : std::max<int64_t>(tensor.alignment, 1);
  for (size_t axis = 0; axis < tensor.shape.dims.size(); ++axis)
    if (tensor.shape.dims[axis] > 1 && tensor.shape.strides[axis] != 1)
      bytes = std::gcd(bytes, tensor.shape.strides[axis] * size);
  return std::min<int64_t>(bytes & -bytes, 16);
}

using Dims = std::vector<int64_t>;

/// The dims against which those of an anchor's input may repeat.
struct PartnerDims {
  const ir::FrozenGraph& graph;
  const ir::Node& node;
  size_t port;

  const Dims& dims(ir::TensorId id) const { return graph.tensor(id).shape.dims; }
  Dims none() const { return Dims(dims(node.inputs[port]).size(), kNoPartner); }

  Dims operator()(const graph::Matmul_attributes&) const {
    Dims result = dims(node.outputs[graph::Matmul_attributes::C]);
    for (size_t axis = result.size() - 2; axis < result.size(); ++axis) result[axis] = kNoPartner;
    return result;
  }
  Dims operator()(const graph::SDPA_attributes&) const {
    using Ports = graph::SDPA_attributes;
    const Dims &q = dims(node.inputs[Ports::Q]), &k = dims(node.inputs[Ports::K]);
    if (port == Ports::K || port == Ports::V) return {q[0], q[1], kNoPartner, kNoPartner};
    if (port == Ports::Bias) return {q[0], q[1], q[2], k[2]};
    return none();
  }
  // Where SCALE's dims are 1 decides what a normalization is over.
  template <class Attributes>
  requires requires { Attributes::SCALE; }
  Dims operator()(const Attributes&) const {
    return port == Attributes::SCALE ? dims(node.inputs[0]) : none();
  }
  template <class Attributes>
  Dims operator()(const Attributes&) const {
    return none();
  }
};

}  // namespace

std::string repeat_pattern(const Dims& dims, const Dims& domain) {
  if (dims.size() > domain.size()) return std::string(dims.size(), '*');
  std::string text;
  const size_t shift = domain.size() - dims.size();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t partner = domain[axis + shift];
    text += partner == kNoPartner ? '.' : dims[axis] == partner ? '=' : dims[axis] == 1 ? '1' : '*';
  }
  return text;
}

std::string anchor_pattern(const ir::FrozenGraph& graph, const ir::Node& anchor, size_t port) {
  return repeat_pattern(graph.tensor(anchor.inputs[port]).shape.dims,
                        std::visit(PartnerDims{graph, anchor, port}, anchor.operation));
}

std::string tensor_class(const ir::FrozenGraph& graph, ir::TensorId id) {
  const ir::Tensor& tensor = graph.tensor(id);
  std::string text(to_string(tensor.data_type));
  text += ' ' + stride_order(tensor.shape);
  text += " a" + std::to_string(alignment_class(graph, tensor));
  if (tensor.is_compile_time_constant && tensor.value)
    text += " = " + std::visit([](auto value) { return fmt::format("{}", +value); }, *tensor.value);
  else if (tensor.is_pass_by_value)
    text += " host";
  if (tensor.reordering != TensorReordering_t::NONE)
    text += ' ' + std::string(to_string(tensor.reordering));
  return text;
}

}  // namespace warploom::fusion
