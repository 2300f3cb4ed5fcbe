#include "engines/cpu/attention_problem.h"

#include <algorithm>
#include <limits>

#include "engines/cpu/cpu_engine.h"

namespace warploom::cpu {
namespace {

using SDPA = graph::SDPA_attributes;

double element(const PlainTensor& tensor, int64_t index, const KernelTable& kernels,
               std::span<void* const> pointers, const std::byte* workspace) {
  double value = 0;
  kernels.convert(tensor.data(pointers, workspace) + index * tensor.element_bytes(), tensor.type, 1,
                  &value, DataType_t::DOUBLE, 1, 1);
  return value;
}

AttentionProblem::RowOutput row_output(const fusion::FusionGroup& group, ir::ShapeTable shapes,
                                       ir::TensorId id) {
  if (id == ir::kNoTensor) return {};
  return {pointer_index(group, id), group.tensor(id).data_type, shapes[static_cast<size_t>(id)]};
}

ir::TensorId output_tensor(const fusion::FusionGroup& group, size_t port) {
  const std::vector<ir::TensorId>& outputs = group.node(group.anchor).outputs;
  return port < outputs.size() ? outputs[port] : ir::kNoTensor;
}

/// Over batch, head, query and key; 0 where the tensor is broadcast.
void broadcast_strides(const ir::Shape& shape, int64_t (&strides)[4]) {
  std::fill(std::begin(strides), std::end(strides), 0);
  const size_t shift = 4 - shape.dims.size();
  for (size_t axis = 0; axis < shape.dims.size(); ++axis)
    if (shape.dims[axis] != 1) strides[axis + shift] = shape.strides[axis];
}

}  // namespace

template <class Attention>
void AttentionProblem::set_options(const fusion::FusionGroup& group, const Attention& attributes) {
  scale_value = attributes.get_attn_scale_value().value_or(1.0F);
  has_alibi = attributes.get_alibi_mask();
  left_bound = attributes.get_left_bound();
  right_bound = attributes.get_right_bound();
  alignment = attributes.get_diagonal_alignment();
  // A scalar that the graph holds and that no pointer is passed for.
  if (scale && scale.pointer < 0) {
    const auto& tensor = group.tensor(port_tensor(group.node(group.anchor), Attention::Attn_scale));
    if (tensor.value)
      scale_value =
          std::visit([](auto value) { return static_cast<double>(value); }, *tensor.value);
    scale = {};
  }
}

AttentionProblem::AttentionProblem(const fusion::FusionGroup& group, ir::ShapeTable shapes,
                                   const PlainInputs& inputs)
    : q(inputs[SDPA::Q]),
      k(inputs[SDPA::K]),
      v(inputs[SDPA::V]),
      scale(inputs[SDPA::Attn_scale]),
      bias(inputs[SDPA::Bias]),
      query_lengths(inputs[SDPA::SEQ_LEN_Q]),
      key_lengths(inputs[SDPA::SEQ_LEN_KV]),
      sink(inputs[SDPA::SINK_TOKEN]) {
  set_extents();
  set_options(group, *group.anchor_as<SDPA>());
  stats = row_output(group, shapes, output_tensor(group, SDPA::Stats));
  maximum = row_output(group, shapes, output_tensor(group, SDPA::Max));
  sum = row_output(group, shapes, output_tensor(group, SDPA::Sum_exp));
}

AttentionProblem AttentionProblem::backward(const fusion::FusionGroup& group,
                                            ir::ShapeTable shapes) {
  using Backward = graph::SDPA_backward_attributes;
  const auto input = [&](size_t port) { return plain_input(group, shapes, port); };
  AttentionProblem problem;
  problem.q = input(Backward::Q);
  problem.k = input(Backward::K);
  problem.v = input(Backward::V);
  problem.scale = input(Backward::Attn_scale);
  problem.bias = input(Backward::Bias);
  problem.query_lengths = input(Backward::SEQ_LEN_Q);
  problem.key_lengths = input(Backward::SEQ_LEN_KV);
  problem.set_extents();
  problem.set_options(group, *group.anchor_as<Backward>());
  return problem;
}

AttentionProblem AttentionProblem::composed(const fusion::FusionGroup& group,
                                            ir::ShapeTable shapes) {
  using Matmul = graph::Matmul_attributes;
  const fusion::ComposedAttention& parts = *group.composed_attention;
  const ir::Node& scores = group.node(parts.score_matmul);
  AttentionProblem problem;
  problem.q = plain_tensor(group, shapes, scores.inputs[Matmul::A]);
  problem.k = plain_tensor(group, shapes, scores.inputs[Matmul::B]);
  std::swap(problem.k.shape.dims[2], problem.k.shape.dims[3]);
  std::swap(problem.k.shape.strides[2], problem.k.shape.strides[3]);
  problem.v = plain_tensor(group, shapes, group.node(group.anchor).inputs[Matmul::B]);
  problem.sink = plain_tensor(group, shapes, parts.sink);
  problem.are_empty_rows_nan = !parts.has_softmax_operation;
  problem.set_extents();
  problem.stats = row_output(group, shapes, parts.stats);
  problem.maximum = row_output(group, shapes, parts.maximum);
  problem.sum = row_output(group, shapes, parts.sum_exp);
  return problem;
}

void AttentionProblem::set_extents() {
  batch = q.shape.dims[0];
  query_heads = q.shape.dims[1];
  key_heads = k.shape.dims[1];
  value_heads = v.shape.dims[1];
  queries = q.shape.dims[2];
  keys = k.shape.dims[2];
  key_size = q.shape.dims[3];
  value_size = v.shape.dims[3];
}

double AttentionProblem::sink_at_launch(const KernelTable& kernels, std::span<void* const> pointers,
                                        const std::byte* workspace, int64_t batch_index,
                                        int64_t head, int64_t query) const {
  if (!sink) return -std::numeric_limits<double>::infinity();
  int64_t strides[4];
  broadcast_strides(sink.shape, strides);
  return element(sink, batch_index * strides[0] + head * strides[1] + query * strides[2], kernels,
                 pointers, workspace);
}

double AttentionProblem::scale_at_launch(const KernelTable& kernels,
                                         std::span<void* const> pointers,
                                         const std::byte* workspace) const {
  return scale ? element(scale, 0, kernels, pointers, workspace) : scale_value;
}

BatchMask AttentionProblem::mask(const KernelTable& kernels, std::span<void* const> pointers,
                                 const std::byte* workspace, int64_t batch_index) const {
  auto length = [&](const PlainTensor& lengths, int64_t most) {
    if (!lengths) return most;
    double value =
        element(lengths, batch_index * lengths.shape.strides[0], kernels, pointers, workspace);
    return std::clamp(static_cast<int64_t>(value), int64_t{0}, most);
  };
  BatchMask mask;
  mask.queries = length(query_lengths, queries);
  mask.keys = length(key_lengths, keys);
  if (alignment == DiagonalAlignment_t::BOTTOM_RIGHT) mask.shift = mask.keys - mask.queries;
  mask.left = left_bound;
  mask.right = right_bound;
  return mask;
}

void AttentionProblem::bias_strides(int64_t (&strides)[4]) const {
  broadcast_strides(bias.shape, strides);
}

engine::Verdict check_attention_options(const fusion::FusionGroup& group) {
  const ir::Node& node = group.node(group.anchor);
  const auto* attributes = group.anchor_as<SDPA>();
  const auto refuse_option = [&](ir::TensorId tensor, const char* option) {
    return refuse("attention has scale, bias, slopes, padding mask, bounds and a sink",
                  group.anchor, tensor, option, "none");
  };
  if (attributes->get_dropout_probability())
    return refuse_option(port_tensor(node, SDPA::Seed), "dropout");
  struct Option {
    size_t port;
    const char* name;
  };
  for (const auto& [port, name] : {Option{SDPA::Dropout_mask, "a dropout mask"},
                                   {SDPA::Page_table_K, "paged keys"},
                                   {SDPA::Page_table_V, "paged values"},
                                   {SDPA::Block_mask, "a block mask"}})
    if (const ir::TensorId tensor = port_tensor(node, port); tensor != ir::kNoTensor)
      return refuse_option(tensor, name);
  return engine::Verdict::yes();
}

void store_row_output(const AttentionProblem::RowOutput& output, std::span<void* const> pointers,
                      int64_t batch, int64_t head, int64_t query, double value,
                      const KernelTable& kernels) {
  if (output.pointer < 0) return;
  const auto& strides = output.shape.strides;
  const int64_t offset = batch * strides[0] + head * strides[1] + query * strides[2];
  kernels.convert(&value, DataType_t::DOUBLE, 1,
                  static_cast<std::byte*>(pointers[static_cast<size_t>(output.pointer)]) +
                      offset * detail::get_data_type_size(output.type),
                  output.type, 1, 1);
}

}  // namespace warploom::cpu
