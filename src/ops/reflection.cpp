#include "ops/reflection.h"

#include "base/hash.h"
#include "ops/site.h"

namespace warploom::ops {
namespace {

template <class T>
struct IsUnset {
  static bool of(const T&) { return false; }
};
template <class T>
requires std::is_enum_v<T>
struct IsUnset<T> {
  // Enumerations without NOT_SET begin with a proper member, named otherwise.
  static bool of(T value) { return to_string(value) == "NOT_SET"; }
};
template <class T>
struct IsUnset<std::optional<T>> {
  static bool of(const std::optional<T>& value) { return !value; }
};
template <class T>
struct IsUnset<std::vector<T>> {
  static bool of(const std::vector<T>& value) { return value.empty(); }
};

error_t check_ports(const Site& site, std::span<const graph::Port> ports,
                    const std::vector<TensorPtr>& tensors, bool is_input) {
  for (size_t port = 0; port < ports.size(); ++port) {
    if (ports[port].is_optional || (port < tensors.size() && tensors[port])) continue;
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET,
                       is_input ? site.input(port) : site.output(port), "no tensor", "a tensor");
  }
  return {};
}

template <class Attributes>
error_t check_presence_of(Attributes& attributes) {
  const Site site(attributes);
  if (attributes.inputs.size() > std::size(Attributes::kInputs) ||
      attributes.outputs.size() > std::size(Attributes::kOutputs))
    return site.refuse(error_code_t::INVALID_VALUE, "tensors",
                       show(attributes.inputs.size()) + " inputs and " +
                           show(attributes.outputs.size()) + " outputs",
                       "at most " + show(std::size(Attributes::kInputs)) + " and " +
                           show(std::size(Attributes::kOutputs)));
  attributes.inputs.resize(std::size(Attributes::kInputs));
  attributes.outputs.resize(std::size(Attributes::kOutputs));
  CHECK_WARPLOOM_ERROR(check_ports(site, Attributes::kInputs, attributes.inputs, true));
  CHECK_WARPLOOM_ERROR(check_ports(site, Attributes::kOutputs, attributes.outputs, false));

  error_t error;
  detail::for_each_field_of(attributes,
                            [&](std::string_view name, const auto& value, bool is_required) {
                              using Value = std::remove_cvref_t<decltype(value)>;
                              if (error.is_good() && is_required && IsUnset<Value>::of(value))
                                error = site.refuse(error_code_t::ATTRIBUTE_NOT_SET,
                                                    site.field(name), "nothing set", "a value");
                            });
  return error;
}

}  // namespace

std::string_view tag(const Operation& operation) {
  return std::visit([](const auto& attributes) { return attributes.kTag; }, operation);
}

std::optional<Operation> make_operation(std::string_view tag) {
  std::optional<Operation> operation;
  for_each_operation_type([&]<class Attributes>(std::type_identity<Attributes>) {
    if (Attributes::kTag == tag) operation = Attributes{};
  });
  return operation;
}

const std::string& name(const Operation& operation) {
  return std::visit([](const auto& attributes) -> const std::string& { return attributes.name; },
                    operation);
}

void set_name(Operation& operation, const std::string& name) {
  std::visit([&](auto& attributes) { attributes.name = name; }, operation);
}

DataType_t compute_data_type(const Operation& operation) {
  return std::visit([](const auto& attributes) { return attributes.compute_data_type; }, operation);
}

void set_compute_data_type(Operation& operation, DataType_t type) {
  std::visit([&](auto& attributes) { attributes.compute_data_type = type; }, operation);
}

std::span<const graph::Port> input_ports(const Operation& operation) {
  return std::visit(
      []<class Attributes>(const Attributes&) {
        return std::span<const graph::Port>(Attributes::kInputs);
      },
      operation);
}

std::span<const graph::Port> output_ports(const Operation& operation) {
  return std::visit(
      []<class Attributes>(const Attributes&) {
        return std::span<const graph::Port>(Attributes::kOutputs);
      },
      operation);
}

std::vector<TensorPtr>& inputs(Operation& operation) {
  return std::visit(
      [](auto& attributes) -> auto& { return attributes.inputs; }, operation);
}
std::vector<TensorPtr>& outputs(Operation& operation) {
  return std::visit(
      [](auto& attributes) -> auto& { return attributes.outputs; }, operation);
}
const std::vector<TensorPtr>& inputs(const Operation& operation) {
  return std::visit(
      [](const auto& attributes) -> const auto& { return attributes.inputs; }, operation);
}
const std::vector<TensorPtr>& outputs(const Operation& operation) {
  return std::visit(
      [](const auto& attributes) -> const auto& { return attributes.outputs; }, operation);
}

void resize_ports(Operation& operation) {
  inputs(operation).resize(input_ports(operation).size());
  outputs(operation).resize(output_ports(operation).size());
}

bool equal(const Operation& a, const Operation& b) {
  return std::visit(
      []<class A, class B>(const A& left, const B& right) {
        if constexpr (std::is_same_v<A, B>) {
          bool is_equal = left.compute_data_type == right.compute_data_type;
          std::apply(
              [&](const auto&... field) {
                is_equal = is_equal && ((left.*(field.member) == right.*(field.member)) && ...);
              },
              A::fields());
          return is_equal;
        } else {
          return false;
        }
      },
      a, b);
}

uint64_t hash(const Operation& operation) {
  base::Hash hash;
  hash.add(tag(operation)).add(compute_data_type(operation));
  for_each_field(operation, [&](std::string_view name, const auto& value, bool) {
    hash.add(name).add(value);
  });
  return hash.value();
}

error_t check_presence(Operation& operation) {
  return std::visit([](auto& attributes) { return check_presence_of(attributes); }, operation);
}

}  // namespace warploom::ops
