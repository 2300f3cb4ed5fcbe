#include "api/engine_list.h"

#include "engines/cpu/engines.h"
#include "engines/reference/engine.h"

namespace warploom {
namespace api {

// Never destroyed: graphs with plans may live in static objects that go later.
engine::Registry& engine_registry() {
  static engine::Registry& registry = *[] {
    auto engines = engines::cpu::make_engines();
    engines.push_back(engines::reference::make_engine());
    return new engine::Registry(std::move(engines));
  }();
  return registry;
}

}  // namespace api

error_t register_engine(std::shared_ptr<const engine::Engine> engine, int interface_version) {
  return api::engine_registry().add(std::move(engine), interface_version);
}

}  // namespace warploom
