#pragma once
#include <span>
#include <string_view>

#include <warploom/ops/operation.h>

// A tensor with a ragged offset is described by the tensor; the operation that reads or writes it
// also reads the offsets. Its input ports RAGGED_OFFSET_x say so in the frozen graph.

namespace warploom::ops {

inline constexpr size_t kNoPort = ~size_t{0};
/// The input port RAGGED_OFFSET_x for the input or output port x; kNoPort where there is none.
size_t ragged_port(std::span<const graph::Port> inputs, std::string_view port);

/// Fills the ports RAGGED_OFFSET_x from the ragged offsets of the tensors, and empties the others.
void set_ragged_ports(graph::Operation& operation);

}  // namespace warploom::ops
