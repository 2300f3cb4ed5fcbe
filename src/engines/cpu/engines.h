#pragma once

#include <memory>
#include <vector>

#include <warploom/engine.h>

namespace warploom::engines::cpu {

/// The engines of this folder: one per kind of anchor, and the fallback that takes any group.
std::vector<std::shared_ptr<const engine::Engine>> make_engines();

}  // namespace warploom::engines::cpu
