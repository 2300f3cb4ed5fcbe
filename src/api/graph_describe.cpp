// Graph: configuration, tensors and operations.
#include "api/graph_state.h"
#include "base/log.h"
#include "graph/builder.h"

namespace warploom::graph {

Graph::Graph() : state_(std::make_unique<State>()) {}
Graph::~Graph() = default;

// A copy is a description: its tensors are the same objects, plans are made anew.
Graph::Graph(const Graph& other) : Graph() {
  *this = other;
}
Graph& Graph::operator=(const Graph& other) {
  if (this == &other) return *this;
  auto copy = std::make_unique<State>();
  copy->description = other.state().description;
  copy->kernel_cache = other.state().kernel_cache;
  copy->device_properties = other.state().device_properties;
  copy->limits = other.state().limits;
  state_ = std::move(copy);
  return *this;
}

// What was moved from is an empty graph.
Graph::Graph(Graph&& other) noexcept = default;
Graph& Graph::operator=(Graph&& other) noexcept = default;

Graph::State& Graph::state() {
  if (!state_) state_ = std::make_unique<State>();
  return *state_;
}

const Graph::State& Graph::state() const {
  static const State& empty = *new State;
  return state_ ? *state_ : empty;
}

Graph& Graph::set_name(const std::string& name) {
  state().description.name = name;
  return *this;
}

Graph& Graph::set_io_data_type(DataType_t type) {
  state().description.io_data_type = type;
  return *this;
}

Graph& Graph::set_intermediate_data_type(DataType_t type) {
  state().description.intermediate_data_type = type;
  return *this;
}

Graph& Graph::set_compute_data_type(DataType_t type) {
  state().description.compute_data_type = type;
  return *this;
}

Graph& Graph::set_dynamic_shape_enabled(bool is_enabled) {
  state().description.is_dynamic_shape_enabled = is_enabled;
  return *this;
}

Graph& Graph::set_override_shape_enabled(bool is_enabled) {
  state().description.is_override_shape_enabled = is_enabled;
  return *this;
}

Graph& Graph::set_kernel_cache(std::shared_ptr<KernelCache> cache) {
  state().kernel_cache = std::move(cache);
  return *this;
}

Graph& Graph::set_device_properties(std::shared_ptr<const DeviceProperties> properties) {
  state().device_properties = std::move(properties);
  return *this;
}

Graph& Graph::set_sm_count(int32_t count) {
  state().description.sm_count = count;
  return *this;
}

Graph& Graph::set_sm_version(int32_t version) {
  state().description.sm_version = version;
  return *this;
}

TensorPtr Graph::tensor(const Tensor_attributes& attributes) {
  return state().description.tensors.emplace_back(std::make_shared<Tensor_attributes>(attributes));
}

TensorPtr Graph::tensor(const pass_by_values_t& value, ScalarType type) {
  return tensor(Tensor_attributes(value, type));
}

TensorPtr Graph::tensor_like(const TensorPtr& other, const std::string& name) {
  Tensor_attributes copy = other ? *other : Tensor_attributes();
  return tensor(copy.clear_uid().set_name(name));
}

TensorPtr Graph::conv_fprop(TensorPtr x, TensorPtr w, Conv_fprop_attributes attributes) {
  return result(state().add_node(std::move(attributes), {x, w}));
}

TensorPtr Graph::conv_dgrad(TensorPtr dy, TensorPtr w, Conv_dgrad_attributes attributes) {
  return result(state().add_node(std::move(attributes), {dy, w}));
}

TensorPtr Graph::conv_wgrad(TensorPtr dy, TensorPtr x, Conv_wgrad_attributes attributes) {
  return result(state().add_node(std::move(attributes), {dy, x}));
}

TensorPtr Graph::matmul(TensorPtr a, TensorPtr b, Matmul_attributes attributes) {
  return result(state().add_node(std::move(attributes), {a, b}));
}

TensorPtr Graph::pointwise(TensorPtr a, Pointwise_attributes attributes) {
  return result(state().add_node(std::move(attributes), {a}));
}

TensorPtr Graph::pointwise(TensorPtr a, TensorPtr b, Pointwise_attributes attributes) {
  return result(state().add_node(std::move(attributes), {a, b}));
}

TensorPtr Graph::pointwise(TensorPtr a, TensorPtr b, TensorPtr c, Pointwise_attributes attributes) {
  return result(state().add_node(std::move(attributes), {a, b, c}));
}

TensorPtr Graph::reduction(TensorPtr x, Reduction_attributes attributes) {
  return result(state().add_node(std::move(attributes), {x}));
}

TensorPtr Graph::reshape(TensorPtr x, Reshape_attributes attributes) {
  return result(state().add_node(std::move(attributes), {x}));
}

TensorPtr Graph::transpose(TensorPtr x, Transpose_attributes attributes) {
  return result(state().add_node(std::move(attributes), {x}));
}

TensorPtr Graph::slice(TensorPtr x, Slice_attributes attributes) {
  return result(state().add_node(std::move(attributes), {x}));
}

TensorPtr Graph::concatenate(std::vector<TensorPtr> x, Concatenate_attributes attributes) {
  return result(state().add_node(std::move(attributes), x));
}

std::array<TensorPtr, 2> Graph::resample(TensorPtr x, Resample_attributes attributes) {
  std::vector<size_t> optional_outputs;
  if (attributes.get_generate_index().value_or(false) &&
      attributes.get_resample_mode() == ResampleMode_t::MAXPOOL)
    optional_outputs.push_back(Resample_attributes::Index);
  const Operation& node = state().add_node(std::move(attributes), {x}, optional_outputs);
  return {result(node, Resample_attributes::Y), result(node, Resample_attributes::Index)};
}

TensorPtr Graph::resample_backward(TensorPtr dy, TensorPtr index,
                                   Resample_backward_attributes attributes) {
  return result(state().add_node(std::move(attributes), {dy, index}));
}

TensorPtr Graph::rng(TensorPtr seed, TensorPtr offset, Rng_attributes attributes) {
  return result(state().add_node(std::move(attributes), {seed, offset}));
}

std::array<TensorPtr, 2> Graph::block_scale_quantize(TensorPtr x,
                                                     Block_scale_quantize_attributes attributes) {
  const Operation& node = state().add_node(std::move(attributes), {x});
  return {result(node, Block_scale_quantize_attributes::Y),
          result(node, Block_scale_quantize_attributes::Scale)};
}

TensorPtr Graph::block_scale_dequantize(TensorPtr x, TensorPtr scale,
                                        Block_scale_dequantize_attributes attributes) {
  return result(state().add_node(std::move(attributes), {x, scale}));
}

TensorPtr Graph::moe_grouped_matmul(TensorPtr token, TensorPtr weight, TensorPtr first_token_offset,
                                    TensorPtr token_index, TensorPtr token_ks,
                                    Moe_grouped_matmul_attributes attributes) {
  return result(state().add_node(std::move(attributes),
                                 {token, weight, first_token_offset, token_index, token_ks}));
}

TensorPtr Graph::moe_grouped_matmul_bwd(TensorPtr doutput, TensorPtr token,
                                        TensorPtr first_token_offset,
                                        Moe_grouped_matmul_bwd_attributes attributes) {
  return result(state().add_node(std::move(attributes), {doutput, token, first_token_offset}));
}

TensorPtr Graph::diagonal_band_mask(TensorPtr x, TensorPtr b, TensorPtr seq_len_q,
                                    TensorPtr seq_len_kv, TensorPtr left_bound,
                                    TensorPtr shift_right_bound,
                                    DiagonalBandMask_attributes attributes) {
  return result(state().add_node(std::move(attributes),
                                 {x, b, seq_len_q, seq_len_kv, left_bound, shift_right_bound}));
}

}  // namespace warploom::graph
