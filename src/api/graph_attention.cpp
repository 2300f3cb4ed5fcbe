// Graph: attention and its gradient.
#include "api/attention_composition.h"
#include "api/graph_state.h"
#include "graph/builder.h"

namespace warploom::graph {
namespace {

template <class Attributes>
std::vector<size_t> wanted_outputs(const Attributes& attributes) {
  std::vector<size_t> ports;
  if (attributes.get_generate_stats().value_or(false)) ports.push_back(SDPA_attributes::Stats);
  return ports;
}

}  // namespace

std::array<TensorPtr, 2> Graph::sdpa(TensorPtr q, TensorPtr k, TensorPtr v,
                                     SDPA_attributes attributes) {
  if (attributes.get_score_mod() && is_composable(attributes))
    return compose_attention(*this, q, k, v, attributes);
  const std::vector<size_t> wanted = wanted_outputs(attributes);
  const Operation& node = state().add_node(std::move(attributes), {q, k, v}, wanted);
  return {result(node, SDPA_attributes::O), result(node, SDPA_attributes::Stats)};
}

std::array<TensorPtr, 4> Graph::sdpa_fp8(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr descale_q,
                                         TensorPtr descale_k, TensorPtr descale_v,
                                         TensorPtr descale_s, TensorPtr scale_s, TensorPtr scale_o,
                                         SDPA_fp8_attributes attributes) {
  using SDPA = SDPA_attributes;
  std::vector<size_t> wanted = wanted_outputs(attributes);
  wanted.insert(wanted.end(), {SDPA::Amax_S, SDPA::Amax_O});
  attributes.inputs.resize(std::size(SDPA::kInputs));
  attributes.inputs[SDPA::Descale_Q] = descale_q;
  attributes.inputs[SDPA::Descale_K] = descale_k;
  attributes.inputs[SDPA::Descale_V] = descale_v;
  attributes.inputs[SDPA::Descale_S] = descale_s;
  attributes.inputs[SDPA::Scale_S] = scale_s;
  attributes.inputs[SDPA::Scale_O] = scale_o;
  const Operation& node =
      state().add_node(SDPA_fp8_forward(std::move(attributes)), {q, k, v}, wanted);
  return {result(node, SDPA::O), result(node, SDPA::Stats), result(node, SDPA::Amax_S),
          result(node, SDPA::Amax_O)};
}

std::array<TensorPtr, 3> Graph::sdpa_fp8(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr descale_q,
                                         TensorPtr descale_k, TensorPtr descale_v,
                                         SDPA_fp8_attributes attributes) {
  using SDPA = SDPA_attributes;
  std::vector<size_t> wanted = wanted_outputs(attributes);
  wanted.push_back(SDPA::Amax_O);
  attributes.inputs.resize(std::size(SDPA::kInputs));
  attributes.inputs[SDPA::Descale_Q] = descale_q;
  attributes.inputs[SDPA::Descale_K] = descale_k;
  attributes.inputs[SDPA::Descale_V] = descale_v;
  const Operation& node =
      state().add_node(SDPA_mxfp8_forward(std::move(attributes)), {q, k, v}, wanted);
  return {result(node, SDPA::O), result(node, SDPA::Stats), result(node, SDPA::Amax_O)};
}

std::array<TensorPtr, 3> Graph::sdpa_backward(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr o,
                                              TensorPtr d_o, TensorPtr stats,
                                              SDPA_backward_attributes attributes) {
  using Backward = SDPA_backward_attributes;
  if (attributes.get_score_mod() && is_composable(attributes)) {
    attributes.inputs.resize(std::size(Backward::kInputs));
    const TensorPtr tensors[] = {q, k, v, o, d_o, stats};
    std::copy(std::begin(tensors), std::end(tensors), attributes.inputs.begin());
    return compose_attention_backward(*this, attributes);
  }
  const Operation& node = state().add_node(std::move(attributes), {q, k, v, o, d_o, stats});
  return {result(node, Backward::dQ), result(node, Backward::dK), result(node, Backward::dV)};
}

std::array<TensorPtr, 7> Graph::sdpa_fp8_backward(
    TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr o, TensorPtr d_o, TensorPtr stats,
    TensorPtr descale_q, TensorPtr descale_k, TensorPtr descale_v, TensorPtr descale_o,
    TensorPtr descale_do, TensorPtr descale_s, TensorPtr descale_dp, TensorPtr scale_s,
    TensorPtr scale_dq, TensorPtr scale_dk, TensorPtr scale_dv, TensorPtr scale_dp,
    SDPA_fp8_backward_attributes attributes) {
  using Backward = SDPA_fp8_backward_attributes;
  // By port, from Q to Scale_dP.
  const Operation& node =
      state().add_node(std::move(attributes),
                       {q,         nullptr,   k,          nullptr,   v,         o,          d_o,
                        nullptr,   nullptr,   stats,      descale_q, nullptr,   descale_k,  nullptr,
                        descale_v, descale_o, descale_do, nullptr,   descale_s, descale_dp, scale_s,
                        scale_dq,  scale_dk,  scale_dv,   scale_dp},
                       {Backward::Amax_dP});
  return {result(node, Backward::dQ),      result(node, Backward::dK),
          result(node, Backward::dV),      result(node, Backward::Amax_dQ),
          result(node, Backward::Amax_dK), result(node, Backward::Amax_dV),
          result(node, Backward::Amax_dP)};
}

std::array<TensorPtr, 6> Graph::sdpa_fp8_backward(
    TensorPtr q, TensorPtr q_t, TensorPtr k, TensorPtr k_t, TensorPtr v, TensorPtr o_f16,
    TensorPtr do_f16, TensorPtr d_o, TensorPtr do_t, TensorPtr stats, TensorPtr descale_q,
    TensorPtr descale_q_t, TensorPtr descale_k, TensorPtr descale_k_t, TensorPtr descale_v,
    TensorPtr descale_do, TensorPtr descale_do_t, SDPA_fp8_backward_attributes attributes) {
  using Backward = SDPA_fp8_backward_attributes;
  // By port, from Q to Descale_dO_T.
  const Operation& node =
      state().add_node(SDPA_mxfp8_backward(std::move(attributes)),
                       {q, q_t, k, k_t, v, o_f16, d_o, do_t, do_f16, stats, descale_q, descale_q_t,
                        descale_k, descale_k_t, descale_v, nullptr, descale_do, descale_do_t});
  return {result(node, Backward::dQ),      result(node, Backward::dK),
          result(node, Backward::dV),      result(node, Backward::Amax_dQ),
          result(node, Backward::Amax_dK), result(node, Backward::Amax_dV)};
}

}  // namespace warploom::graph
