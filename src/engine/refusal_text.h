#pragma once

#include <string>

#include <warploom/engine.h>

namespace warploom::engine {

/// "cpu.attention: head dimension is at most 256 (node 'attention', tensor 'Q': found d = 264,
/// accepted 256)".
std::string refusal_text(const std::string& engine, const Refusal& refusal,
                         const ir::FrozenGraph& graph);

}  // namespace warploom::engine
