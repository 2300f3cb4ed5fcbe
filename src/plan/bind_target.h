#pragma once

#include <memory>
#include <vector>

#include "plan/pack_table.h"

namespace warploom::plan {

/// A graph with the shapes that plans are bound to, and what its variant packs hold.
struct BindTarget {
  explicit BindTarget(std::shared_ptr<const ir::FrozenGraph> with_shapes)
      : graph(std::move(with_shapes)), pack(*graph) {
    shapes.reserve(graph->tensors.size());
    for (const ir::Tensor& tensor : graph->tensors) shapes.push_back(tensor.shape);
  }
  /// The graph has other shapes than before, and is the same otherwise.
  void update() {
    for (size_t i = 0; i < shapes.size(); ++i) shapes[i] = graph->tensors[i].shape;
    pack.update();
  }

  std::shared_ptr<const ir::FrozenGraph> graph;
  std::vector<ir::Shape> shapes;  ///< by TensorId
  PackTable pack;
};

}  // namespace warploom::plan
