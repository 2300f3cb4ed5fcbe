#pragma once

#include <string>
#include <unordered_map>

#include <warploom/engine.h>

namespace warploom::engine {

/// The settings in the order of the engine's knobs. INVALID_VALUE for a knob that the engine has
/// not or a value outside its range, naming what it accepts.
Result<KnobSettings> knob_settings(const EngineInfo& info,
                                   const std::unordered_map<KnobType_t, int64_t>& requested);

/// `settings` with those of `overriding` in place of or in addition to its own, in the order of the
/// engine's knobs.
KnobSettings merged(const EngineInfo& info, const KnobSettings& settings,
                    const KnobSettings& overriding);

/// How a knob is spelled in plan names: "tile_m".
std::string knob_name(KnobType_t type);

}  // namespace warploom::engine
