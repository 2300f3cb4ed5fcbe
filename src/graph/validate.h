#pragma once

#include <warploom/error.h>

#include "graph/description.h"

namespace warploom::graph {

/// Checks every tensor and operation and fills in what can be inferred: data types, dims, strides.
/// What is inferred stays, so that a second call checks it like something set by the user.
error_t validate(Description& description);

}  // namespace warploom::graph
