#include "ops/site.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warploom::ops {
namespace {

std::string port_text(std::span<const graph::Port> ports,
                      const std::vector<graph::TensorPtr>& tensors, size_t port) {
  if (port < tensors.size() && tensors[port])
    return fmt::format("tensor \"{}\" (port {})", tensors[port]->get_name(), ports[port].name);
  return fmt::format("port {}", ports[port].name);
}

std::string dim_text(std::string tensor, size_t dim, std::string_view meaning) {
  tensor += fmt::format(", dim {}", dim);
  if (!meaning.empty()) tensor += fmt::format(" ({})", meaning);
  return tensor;
}

}  // namespace

std::string Site::input(size_t port) const {
  return port_text(input_ports_, inputs_, port);
}
std::string Site::input(size_t port, size_t dim, std::string_view meaning) const {
  return dim_text(input(port), dim, meaning);
}
std::string Site::output(size_t port) const {
  return port_text(output_ports_, outputs_, port);
}
std::string Site::output(size_t port, size_t dim, std::string_view meaning) const {
  return dim_text(output(port), dim, meaning);
}
std::string Site::field(std::string_view name) const {
  return fmt::format("field {}", name);
}
std::string Site::field(std::string_view name, size_t entry) const {
  return fmt::format("field {}, entry {}", name, entry);
}

error_t Site::refuse(error_code_t code, std::string_view subject, std::string_view found,
                     std::string_view accepted) const {
  return {code, fmt::format("{} \"{}\": {}: found {}, accepted {}", tag_, name_, subject, found,
                            accepted)};
}

std::string show(int64_t value) {
  return fmt::format("{}", value);
}
std::string show(double value) {
  return fmt::format("{}", value);
}
std::string show(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

}  // namespace warploom::ops
