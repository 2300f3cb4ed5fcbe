#include "ops/ragged.h"

#include "ops/reflection.h"

namespace warploom::ops {
namespace {

constexpr std::string_view kPrefix = "RAGGED_OFFSET_";

}  // namespace

size_t ragged_port(std::span<const graph::Port> inputs, std::string_view port) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name.starts_with(kPrefix) && inputs[i].name.substr(kPrefix.size()) == port)
      return i;
  return kNoPort;
}

void set_ragged_ports(graph::Operation& operation) {
  const std::span<const graph::Port> ports = input_ports(operation);
  std::vector<TensorPtr>& tensors = inputs(operation);
  const auto set = [&](std::string_view name, const TensorPtr& tensor) {
    if (const size_t port = ragged_port(ports, name); port != kNoPort)
      tensors[port] = tensor ? tensor->get_ragged_offset() : nullptr;
  };
  for (size_t port = 0; port < tensors.size(); ++port) set(ports[port].name, tensors[port]);
  for (size_t port = 0; port < outputs(operation).size(); ++port)
    set(output_ports(operation)[port].name, outputs(operation)[port]);
}

}  // namespace warploom::ops
