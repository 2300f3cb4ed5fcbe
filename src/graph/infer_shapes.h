#pragma once

#include <memory>
#include <vector>

#include <warploom/error.h>
#include <warploom/frozen_graph.h>

namespace warploom::graph {

/// Other dims and strides for some tensors, by uid: three lists of one length.
struct ShapeOverrides {
  const std::vector<int64_t>& uids;
  const std::vector<std::vector<int64_t>>& dims;
  const std::vector<std::vector<int64_t>>& strides;
};

/// The graph with the shapes that follow: tensors in the user's memory have those given, or else
/// keep theirs; virtual ones are inferred again (see ops/infer_again.h). An error names the tensor,
/// what was found and what is accepted.
Result<std::shared_ptr<const ir::FrozenGraph>> infer_shapes(const ir::FrozenGraph& graph,
                                                            const ShapeOverrides& overrides);

}  // namespace warploom::graph
