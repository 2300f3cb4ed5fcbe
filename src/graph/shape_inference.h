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

/// Gives a graph other shapes, again and again, in one copy of it: what a binding costs must not be
/// the price of allocations.
class ShapeInference {
 public:
  explicit ShapeInference(std::shared_ptr<const ir::FrozenGraph> described);

  /// Tensors in the user's memory have the shapes given, or else those described; virtual ones are
  /// inferred again (see ops/infer_again.h). An error names the tensor, what was found and what is
  /// accepted.
  error_t infer(const ShapeOverrides& overrides);

  /// With the shapes that were inferred last. The next infer() changes it.
  std::shared_ptr<const ir::FrozenGraph> graph() const { return graph_; }

 private:
  void reset();
  error_t override_shapes(const ShapeOverrides& overrides);
  error_t override_shape(int64_t uid, const std::vector<int64_t>& dims,
                         const std::vector<int64_t>& strides);
  error_t infer(size_t node);

  std::shared_ptr<const ir::FrozenGraph> described_;
  std::shared_ptr<ir::FrozenGraph> graph_;
  // By TensorId: as described, with shapes where they are known before inference; and in use.
  std::vector<Tensor_attributes> templates_, tensors_;
  std::vector<const ir::Shape*> described_inputs_, described_outputs_;  ///< of one node
};

}  // namespace warploom::graph
