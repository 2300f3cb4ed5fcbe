#pragma once
/// Words for the reasons why fusions stop.
#include <string>

#include <warploom/frozen_graph.h>

namespace warploom::fusion {

/// "MATMUL 'scores'", "GELU_FWD 'activation'", "REDUCTION MAX 'rows'".
std::string label(const ir::FrozenGraph& graph, ir::NodeId node);
/// "'scores::C' [2, 8, 8]".
std::string label_tensor(const ir::FrozenGraph& graph, ir::TensorId tensor);
/// "[2, 8, 8]".
std::string label_dims(const std::vector<int64_t>& dims);

}  // namespace warploom::fusion
