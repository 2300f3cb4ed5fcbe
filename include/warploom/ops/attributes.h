#pragma once
/// What every operation's attributes class declares. An operation is declared once, in its class:
///   kTag      the name in graph JSON, e.g. "MATMUL"
///   kInputs   the ports in order; `Input` is an enum with the same order
///   kOutputs  likewise, with `Output`
///   fields()  a tuple of Field: the JSON name, the member, whether it must be set
///             (a template, so that only who asks for it pays for the compile of the tuple)
/// Presence checks, JSON in both directions, equality, hashing, printing, bindings and
/// documentation follow from these.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <warploom/tensor.h>

namespace warploom::graph {

/// One input or output of an operation.
struct Port {
  std::string_view name;     ///< in JSON and in messages, e.g. "X"
  std::string_view keyword;  ///< the Python keyword, e.g. "image"
  bool is_optional = false;
};

inline constexpr bool kOptional = true;
inline constexpr bool kRequired = true;

/// One attribute of an operation. A required field that is empty, unset or NOT_SET is refused by
/// validate().
template <class Class, class T>
struct Field {
  std::string_view name;
  T Class::*member;
  bool is_required = false;
};

template <class Class, class T>
constexpr Field<Class, T> field(std::string_view name, T Class::*member, bool is_required = false) {
  return {name, member, is_required};
}

/// Base of every attributes class.
template <class Derived>
class Attributes {
 public:
  std::string name;
  /// Type in which the operation computes; NOT_SET takes the graph's compute type.
  DataType_t compute_data_type = DataType_t::NOT_SET;
  /// Tensors by port, null where an optional port is not used. Graph's methods and setters fill
  /// them.
  std::vector<TensorPtr> inputs, outputs;

  Derived& set_name(const std::string& value) {
    name = value;
    return self();
  }
  Derived& set_compute_data_type(DataType_t value) {
    compute_data_type = value;
    return self();
  }

 protected:
  Derived& self() { return static_cast<Derived&>(*this); }
  Derived& set_input(size_t port, TensorPtr tensor) {
    inputs.resize(std::size(Derived::kInputs));
    inputs[port] = std::move(tensor);
    return self();
  }
  Derived& set_output_tensor(size_t port, TensorPtr tensor) {
    outputs.resize(std::size(Derived::kOutputs));
    outputs[port] = std::move(tensor);
    return self();
  }
};

}  // namespace warploom::graph
