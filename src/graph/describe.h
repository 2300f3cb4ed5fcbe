#pragma once

#include <string>

#include <warploom/ops/operation.h>

namespace warploom::graph {

/// MATMUL "name", for messages.
std::string describe(const Operation& operation);

}  // namespace warploom::graph
