#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/description.h"

namespace warploom::graph {

/// Appends `operation` as a node that reads `inputs`, port by port (a null one leaves the port as
/// the attributes have it). Results that the attributes do not supply are made for every mandatory
/// output port, and for the `optional_outputs`: virtual tensors named "<node name>::<PORT>".
/// Returns the node.
///
/// Nothing is checked here. Conv_fprop, Matmul, Pointwise and DBN_weight nodes without a name are
/// called by their index; Matmul and Pointwise also name nameless inputs like results.
Operation& add_node(Description& description, Operation operation,
                    const std::vector<TensorPtr>& inputs,
                    const std::vector<size_t>& optional_outputs = {});

/// The tensor at an output port of a node.
TensorPtr result(const Operation& node, size_t port = 0);

}  // namespace warploom::graph
