#pragma once

#include <cstdint>
#include <string>

#include "graph/description.h"

namespace warploom::graph {

/// Everything that a description says of its operations and their tensors, as bytes: equal for
/// equal descriptions, in every process.
/// Where dynamic shapes are enabled, what follows the shapes is left out: dims and strides of
/// tensors, those of reshapes, and the limits of slices.
std::string identity(const Description& description);

/// A hash of it.
uint64_t key(const std::string& identity);

}  // namespace warploom::graph
