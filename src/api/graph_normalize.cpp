// Graph: softmax and normalizations.
#include "api/graph_state.h"
#include "graph/builder.h"

namespace warploom::graph {
namespace {

/// All results in the order of the ports, null where there is none.
template <size_t N>
std::array<TensorPtr, N> results(const Operation& node) {
  std::array<TensorPtr, N> all;
  for (size_t port = 0; port < N; ++port) all[port] = result(node, port);
  return all;
}

/// The statistics of the training phase: every result but the first.
template <class Attributes>
std::vector<size_t> statistics(const Attributes& attributes) {
  std::vector<size_t> ports;
  if (attributes.get_forward_phase() == NormFwdPhase_t::TRAINING)
    for (size_t port = 1; port < std::size(Attributes::kOutputs); ++port) ports.push_back(port);
  return ports;
}

template <class Attributes>
std::vector<size_t> running_statistics(const Attributes& attributes) {
  for (size_t port :
       {Attributes::PREV_RUNNING_MEAN, Attributes::PREV_RUNNING_VAR, Attributes::MOMENTUM})
    if (port >= attributes.inputs.size() || !attributes.inputs[port]) return {};
  return {Attributes::NEXT_RUNNING_MEAN, Attributes::NEXT_RUNNING_VAR};
}

}  // namespace

TensorPtr Graph::softmax(TensorPtr p, Softmax_attributes attributes) {
  return result(state().add_node(std::move(attributes), {p}));
}

std::array<TensorPtr, 3> Graph::layernorm(TensorPtr x, TensorPtr scale, TensorPtr bias,
                                          Layernorm_attributes attributes) {
  const auto ports = statistics(attributes);
  return results<3>(state().add_node(std::move(attributes), {x, scale, bias}, ports));
}

std::array<TensorPtr, 3> Graph::adalayernorm(TensorPtr x, TensorPtr scale, TensorPtr bias,
                                             AdaLayernorm_attributes attributes) {
  const auto ports = statistics(attributes);
  return results<3>(state().add_node(std::move(attributes), {x, scale, bias}, ports));
}

std::array<TensorPtr, 3> Graph::instancenorm(TensorPtr x, TensorPtr scale, TensorPtr bias,
                                             Instancenorm_attributes attributes) {
  const auto ports = statistics(attributes);
  return results<3>(state().add_node(std::move(attributes), {x, scale, bias}, ports));
}

std::array<TensorPtr, 2> Graph::rmsnorm(TensorPtr x, TensorPtr scale,
                                        Rmsnorm_attributes attributes) {
  const auto ports = statistics(attributes);
  return results<2>(state().add_node(std::move(attributes), {x, scale}, ports));
}

std::array<TensorPtr, 3> Graph::layernorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                   Layernorm_backward_attributes attributes) {
  return results<3>(state().add_node(std::move(attributes), {dy, x, scale}));
}

std::array<TensorPtr, 3> Graph::adalayernorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                      AdaLayernorm_backward_attributes attributes) {
  return results<3>(state().add_node(std::move(attributes), {dy, x, scale}));
}

std::array<TensorPtr, 3> Graph::instancenorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                      Instancenorm_backward_attributes attributes) {
  return results<3>(state().add_node(std::move(attributes), {dy, x, scale}));
}

std::array<TensorPtr, 3> Graph::rmsnorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                 TensorPtr inv_variance,
                                                 Rmsnorm_backward_attributes attributes) {
  std::vector<size_t> ports;
  if (attributes.get_use_dbias().value_or(false))
    ports.push_back(Rmsnorm_backward_attributes::DBIAS);
  return results<3>(state().add_node(std::move(attributes), {dy, x, scale, inv_variance}, ports));
}

std::array<TensorPtr, 5> Graph::batchnorm(TensorPtr x, TensorPtr scale, TensorPtr bias,
                                          Batchnorm_attributes attributes) {
  const auto ports = running_statistics(attributes);
  return results<5>(state().add_node(std::move(attributes), {x, scale, bias}, ports));
}

TensorPtr Graph::batchnorm_inference(TensorPtr x, TensorPtr mean, TensorPtr inv_variance,
                                     TensorPtr scale, TensorPtr bias,
                                     Batchnorm_inference_attributes attributes) {
  return result(state().add_node(std::move(attributes), {x, mean, inv_variance, scale, bias}));
}

std::array<TensorPtr, 3> Graph::batchnorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                   Batchnorm_backward_attributes attributes) {
  return results<3>(state().add_node(std::move(attributes), {dy, x, scale}));
}

std::array<TensorPtr, 5> Graph::dbn_weight(TensorPtr dy, TensorPtr x, TensorPtr mean,
                                           TensorPtr inv_variance, TensorPtr scale,
                                           DBN_weight_attributes attributes) {
  return results<5>(state().add_node(std::move(attributes), {dy, x, scale, mean, inv_variance}));
}

std::array<TensorPtr, 2> Graph::genstats(TensorPtr x, Genstats_attributes attributes) {
  return results<2>(state().add_node(std::move(attributes), {x}));
}

std::array<TensorPtr, 6> Graph::bn_finalize(TensorPtr sum, TensorPtr sq_sum, TensorPtr scale,
                                            TensorPtr bias, TensorPtr epsilon,
                                            TensorPtr accum_count,
                                            BN_finalize_attributes attributes) {
  const auto ports = running_statistics(attributes);
  return results<6>(state().add_node(std::move(attributes),
                                     {sum, sq_sum, scale, bias, epsilon, accum_count}, ports));
}

}  // namespace warploom::graph
