#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include <warploom/ops/operation.h>

// Any operation seen through the tables that its class declares.

namespace warploom::ops {

using graph::Operation;
using graph::TensorPtr;

namespace detail {

template <class Function, size_t... Index>
void for_each_type(Function&& function, std::index_sequence<Index...>) {
  (function(std::type_identity<std::variant_alternative_t<Index, Operation>>{}), ...);
}

template <class Attributes, class Function>
void for_each_field_of(Attributes& attributes, Function&& function) {
  std::apply(
      [&](const auto&... field) {
        (function(field.name, attributes.*(field.member), field.is_required), ...);
      },
      std::remove_const_t<Attributes>::fields());
}

}  // namespace detail

/// Calls function(std::type_identity<Attributes>{}) for every operation there is.
template <class Function>
void for_each_operation_type(Function&& function) {
  detail::for_each_type(std::forward<Function>(function),
                        std::make_index_sequence<std::variant_size_v<Operation>>{});
}

/// The name in graph JSON, e.g. "MATMUL".
std::string_view tag(const Operation& operation);
/// A default-constructed operation of this tag.
std::optional<Operation> make_operation(std::string_view tag);

const std::string& name(const Operation& operation);
void set_name(Operation& operation, const std::string& name);

DataType_t compute_data_type(const Operation& operation);
void set_compute_data_type(Operation& operation, DataType_t type);

std::span<const graph::Port> input_ports(const Operation& operation);
std::span<const graph::Port> output_ports(const Operation& operation);

/// By port, null where a port is not used. May be shorter than the ports until `resize_ports`.
std::vector<TensorPtr>& inputs(Operation& operation);
std::vector<TensorPtr>& outputs(Operation& operation);
const std::vector<TensorPtr>& inputs(const Operation& operation);
const std::vector<TensorPtr>& outputs(const Operation& operation);
/// Gives `inputs` and `outputs` one entry for every port.
void resize_ports(Operation& operation);

/// Calls function(name, value, is_required) for every field. Value types: bool, int64_t, float,
/// double, std::string, enumerations, std::optional of these, std::vector<int64_t>,
/// std::vector<std::pair<int64_t, int64_t>>.
template <class Function>
void for_each_field(const Operation& operation, Function&& function) {
  std::visit([&](const auto& attributes) { detail::for_each_field_of(attributes, function); },
             operation);
}
template <class Function>
void for_each_field(Operation& operation, Function&& function) {
  std::visit([&](auto& attributes) { detail::for_each_field_of(attributes, function); }, operation);
}

/// The same operation with equal compute type and fields; name and tensors do not count.
bool equal(const Operation& a, const Operation& b);
/// Of what `equal` compares; the same in every process.
uint64_t hash(const Operation& operation);

/// ATTRIBUTE_NOT_SET names the first required port or field that is missing; INVALID_VALUE a vector
/// of tensors that is longer than the ports. Calls `resize_ports`.
error_t check_presence(Operation& operation);

}  // namespace warploom::ops
