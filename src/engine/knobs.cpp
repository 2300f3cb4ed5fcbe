#include "engine/knobs.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace warploom::engine {
namespace {

std::string accepted_values(const Knob& knob) {
  if (knob.stride <= 1) return fmt::format("{} to {}", knob.minValue, knob.maxValue);
  return fmt::format("{} to {} in steps of {}", knob.minValue, knob.maxValue, knob.stride);
}

std::string accepted_knobs(const EngineInfo& info) {
  if (info.knobs.empty()) return "it has none";
  std::string text = "it has";
  for (const Knob& knob : info.knobs)
    text += fmt::format(" {} ({})", to_string(knob.type), accepted_values(knob));
  return text;
}

bool accepts(const Knob& knob, int64_t value) {
  if (value < knob.minValue || value > knob.maxValue) return false;
  // As unsigned: the difference of two in-range values may exceed int64.
  const uint64_t above = static_cast<uint64_t>(value) - static_cast<uint64_t>(knob.minValue);
  return knob.stride <= 1 || above % static_cast<uint64_t>(knob.stride) == 0;
}

}  // namespace

Result<KnobSettings> knob_settings(const EngineInfo& info,
                                   const std::unordered_map<KnobType_t, int64_t>& requested) {
  for (const auto& [type, value] : requested)
    if (std::ranges::find(info.knobs, type, &Knob::type) == info.knobs.end())
      return error_t{error_code_t::INVALID_VALUE,
                     fmt::format("Engine {} has no knob {}; {}", info.name, to_string(type),
                                 accepted_knobs(info))};
  KnobSettings settings;
  for (const Knob& knob : info.knobs) {
    const auto found = requested.find(knob.type);
    if (found == requested.end()) continue;
    if (!accepts(knob, found->second))
      return error_t{error_code_t::INVALID_VALUE,
                     fmt::format("Engine {}, knob {}: {} is not accepted; accepted: {}", info.name,
                                 to_string(knob.type), found->second, accepted_values(knob))};
    settings.emplace_back(knob.type, found->second);
  }
  return settings;
}

KnobSettings merged(const EngineInfo& info, const KnobSettings& settings,
                    const KnobSettings& overriding) {
  KnobSettings result;
  for (const Knob& knob : info.knobs)
    for (const KnobSettings* source : {&overriding, &settings}) {
      const auto found = std::ranges::find(*source, knob.type, &KnobSettings::value_type::first);
      if (found == source->end()) continue;
      result.push_back(*found);
      break;
    }
  return result;
}

std::string knob_name(KnobType_t type) {
  std::string name(to_string(type));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

}  // namespace warploom::engine
