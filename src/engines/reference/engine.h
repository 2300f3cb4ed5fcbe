#pragma once
#include <memory>

#include <warploom/engine.h>

namespace warploom::engines::reference {

/// The engine "reference": any group, on the CPU, one operation after another as ops/reference.h
/// says. Tensors inside a group are kept in the workspace: floats as doubles, so that they are not
/// rounded; integers and booleans in their own type.
std::shared_ptr<const engine::Engine> make_engine();

}  // namespace warploom::engines::reference
