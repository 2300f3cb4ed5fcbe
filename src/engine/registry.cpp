#include "engine/registry.h"

#include <algorithm>

#include <fmt/format.h>

namespace warploom::engine {
namespace {

// Plan names are made of engine names, knobs and these separators.
constexpr std::string_view kSeparators = "|:,=@ ";

error_t invalid(std::string message) {
  return {error_code_t::INVALID_VALUE, std::move(message)};
}

}  // namespace

error_t Registry::add(std::shared_ptr<const Engine> engine, int interface_version) {
  if (interface_version != kInterfaceVersion)
    return invalid(
        fmt::format("register_engine: built for interface version {}; this library has {}",
                    interface_version, kInterfaceVersion));
  if (!engine) return invalid("register_engine: the engine is a null pointer");
  const std::string name = engine->info().name;
  if (name.empty() || name.find_first_of(kSeparators) != std::string::npos)
    return invalid(
        fmt::format("register_engine: the name '{}' is empty or has one of '{}'; a name "
                    "is like \"cpu.gemm\"",
                    name, kSeparators));
  const std::lock_guard lock(mutex_);
  const bool is_taken =
      std::ranges::any_of(engines_, [&](const auto& other) { return other->info().name == name; });
  if (is_taken)
    return invalid(fmt::format("register_engine: there is an engine '{}' already", name));
  engines_.push_back(std::move(engine));
  return {};
}

std::vector<std::shared_ptr<const Engine>> Registry::engines(DeviceType device) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Engine>> fitting;
  std::ranges::copy_if(engines_, std::back_inserter(fitting),
                       [&](const auto& engine) { return engine->info().device == device; });
  return fitting;
}

}  // namespace warploom::engine
