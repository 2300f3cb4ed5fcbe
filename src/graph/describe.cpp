#include "graph/describe.h"

#include <fmt/format.h>

#include "ops/reflection.h"

namespace warploom::graph {

std::string describe(const Operation& operation) {
  return fmt::format("{} \"{}\"", ops::tag(operation), ops::name(operation));
}

}  // namespace warploom::graph
