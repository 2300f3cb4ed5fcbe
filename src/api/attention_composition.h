#pragma once
#include <array>

#include <warploom/graph.h>

namespace warploom::graph {

/// Adds attention with a score modifier to the graph: single operations, the modifier's among them,
/// named after the attention. {O, Stats}
std::array<TensorPtr, 2> compose_attention(Graph& graph, const TensorPtr& q, const TensorPtr& k,
                                           const TensorPtr& v, const SDPA_attributes& attributes);
/// The same for the gradient: {dQ, dK, dV}.
std::array<TensorPtr, 3> compose_attention_backward(Graph& graph,
                                                    const SDPA_backward_attributes& attributes);

/// Whether single operations can do what the attributes ask for.
bool is_composable(const SDPA_attributes& attributes);
bool is_composable(const SDPA_backward_attributes& attributes);

}  // namespace warploom::graph
