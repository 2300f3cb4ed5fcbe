#pragma once

#include <memory>

#include <warploom/error.h>
#include <warploom/frozen_graph.h>

#include "graph/description.h"

namespace warploom::graph {

/// Makes the tables that everything later works on. Tensors without a uid get 1, 2, 3 ..., skipping
/// those in use, in node order, then input ports, then output ports; they keep them. The
/// description is a validated one.
///
/// Virtual floating-point tensors take the data type in which plans carry them: that of their
/// producer's arithmetic (DOUBLE, else FLOAT), so that no plan rounds them; results of movement
/// that of their source, so that they can be views of it.
Result<std::shared_ptr<const ir::FrozenGraph>> freeze(const Description& description);

}  // namespace warploom::graph
