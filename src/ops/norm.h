#pragma once
#include "ops/families.h"
#include "ops/strides.h"

// What softmax and the normalizations have in common when they are checked.

namespace warploom::ops {

/// Means and exponentials are no integers: the compute type is a floating one, and so is the type
/// of every output from port `first_statistic` on.
error_t check_floating(const Site& site, DataType_t compute_type,
                       const std::vector<graph::TensorPtr>& outputs, size_t first_statistic);

/// Refuses an input, if there is one, that does not repeat over `dims` (aligned right, dims of 1
/// repeat).
error_t check_repeats(const Site& site, size_t port, const graph::TensorPtr& tensor,
                      const Dims& dims);

/// The two inputs have the same dims.
error_t check_equal_dims(const Site& site, size_t port, const graph::Tensor_attributes& tensor,
                         size_t other_port, const graph::Tensor_attributes& other);
error_t check_one_element(const Site& site, size_t port, const graph::TensorPtr& tensor);
/// An input of these dims has a dim 1.
error_t check_has_channels(const Site& site, size_t port, const Dims& dims);
/// One device has no peers.
error_t check_peers(const Site& site, const std::vector<int64_t>& peer_stats);

/// The axis of a softmax on `rank` dims, from the first.
size_t softmax_axis(const graph::Softmax_attributes& softmax, size_t rank);

/// The same dims and strides as another tensor; packed in its order if its elements overlap.
struct Layout {
  Dims dims, strides;
};
Layout layout_like(const graph::Tensor_attributes& tensor);
/// Packed, in the order of the strides of `tensor`, which has the same rank.
Layout packed_like(const Dims& dims, const graph::Tensor_attributes& tensor);

/// Gives an output, if there is one, this layout where it has none, or refuses dims that
/// contradict.
error_t infer_layout(const Site& site, size_t port, const graph::TensorPtr& output,
                     const Layout& layout);

}  // namespace warploom::ops
