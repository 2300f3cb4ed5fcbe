#pragma once
#include <string>
#include <vector>

#include <warploom/frozen_graph.h>

namespace warploom::fusion {

/// What a kernel may depend on in a tensor, without its extents: data type, the order of its
/// strides, its alignment class, whether it lies on the host. For example "HALF 0231 a16": dims
/// from the outermost to the innermost in memory, addresses of rows multiples of 16 bytes.
std::string tensor_class(const ir::FrozenGraph& graph, ir::TensorId id);

/// How dims repeat over the domain on which they are read (aligned right): '1' where one element
/// serves a whole dim, '=' where the dims are equal (both may be 1), '*' otherwise, '.' where the
/// domain has kNoPartner.
std::string repeat_pattern(const std::vector<int64_t>& dims, const std::vector<int64_t>& domain);
inline constexpr int64_t kNoPartner = -1;

/// repeat_pattern of an anchor's input: batch dims of a matmul, heads and batch of attention, what
/// is left of a reduction. For other tensors all dots.
std::string anchor_pattern(const ir::FrozenGraph& graph, const ir::Node& anchor, size_t port);

}  // namespace warploom::fusion
