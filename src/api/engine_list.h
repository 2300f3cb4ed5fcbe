#pragma once

#include "engine/registry.h"

namespace warploom::api {

/// Warploom's engines, then those that users registered.
engine::Registry& engine_registry();

/// The engine that verification trusts.
inline constexpr const char* kOracle = "reference";

}  // namespace warploom::api
