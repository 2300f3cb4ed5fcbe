#include "engines/cpu/attention_problem.h"

#include <algorithm>

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
                                       size_t port) {
  const std::vector<ir::TensorId>& outputs = group.node(group.anchor).outputs;
  if (port >= outputs.size() || outputs[port] == ir::kNoTensor) return {};
  const ir::TensorId id = outputs[port];
  return {pointer_index(group, id), group.tensor(id).data_type, shapes[static_cast<size_t>(id)]};
}

}  // namespace

AttentionProblem::AttentionProblem(const fusion::FusionGroup& group, ir::ShapeTable shapes,
                                   const PlainInputs& inputs)
    : q(inputs[SDPA::Q]),
      k(inputs[SDPA::K]),
      v(inputs[SDPA::V]),
      scale(inputs[SDPA::Attn_scale]),
      bias(inputs[SDPA::Bias]),
      query_lengths(inputs[SDPA::SEQ_LEN_Q]),
      key_lengths(inputs[SDPA::SEQ_LEN_KV]) {
  batch = q.shape.dims[0];
  query_heads = q.shape.dims[1];
  key_heads = k.shape.dims[1];
  value_heads = v.shape.dims[1];
  queries = q.shape.dims[2];
  keys = k.shape.dims[2];
  key_size = q.shape.dims[3];
  value_size = v.shape.dims[3];
  const SDPA& attributes = *group.anchor_as<SDPA>();
  scale_value = attributes.get_attn_scale_value().value_or(1.0F);
  left_bound = attributes.get_left_bound();
  right_bound = attributes.get_right_bound();
  alignment = attributes.get_diagonal_alignment();
  // A scalar that the graph holds and that no pointer is passed for.
  if (scale && scale.pointer < 0) {
    const auto& tensor = group.tensor(port_tensor(group.node(group.anchor), SDPA::Attn_scale));
    if (tensor.value)
      scale_value =
          std::visit([](auto value) { return static_cast<double>(value); }, *tensor.value);
    scale = {};
  }
  stats = row_output(group, shapes, SDPA::Stats);
  maximum = row_output(group, shapes, SDPA::Max);
  sum = row_output(group, shapes, SDPA::Sum_exp);
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
  std::fill(std::begin(strides), std::end(strides), 0);
  const size_t shift = 4 - bias.shape.dims.size();
  for (size_t axis = 0; axis < bias.shape.dims.size(); ++axis)
    if (bias.shape.dims[axis] != 1) strides[axis + shift] = bias.shape.strides[axis];
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
