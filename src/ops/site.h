#pragma once
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warploom/ops/attributes.h>

namespace warploom::ops {

/// The operation that is being checked, and the one form of every message about it:
///
///   CONV_FPROP "conv1": tensor "image" (port X), dim 1 (channels): found 7, accepted a multiple of
///   4
class Site {
 public:
  template <class Attributes>
  explicit Site(const Attributes& attributes)
      : tag_(Attributes::kTag),
        name_(attributes.name),
        input_ports_(Attributes::kInputs),
        output_ports_(Attributes::kOutputs),
        inputs_(attributes.inputs),
        outputs_(attributes.outputs) {}

  /// Subjects of a message. A port may have no tensor yet.
  std::string input(size_t port) const;
  std::string input(size_t port, size_t dim, std::string_view meaning = "") const;
  std::string output(size_t port) const;
  std::string output(size_t port, size_t dim, std::string_view meaning = "") const;
  std::string field(std::string_view name) const;
  std::string field(std::string_view name, size_t entry) const;

  error_t refuse(error_code_t code, std::string_view subject, std::string_view found,
                 std::string_view accepted) const;

 private:
  std::string_view tag_;
  std::string_view name_;
  std::span<const graph::Port> input_ports_, output_ports_;
  const std::vector<graph::TensorPtr>& inputs_;
  const std::vector<graph::TensorPtr>& outputs_;
};

/// How values appear in messages: 5, 0.5, "[1, 2, 3]", "FLOAT".
std::string show(int64_t value);
std::string show(double value);
std::string show(const std::vector<int64_t>& values);
template <class Enum>
requires std::is_enum_v<Enum> std::string show(Enum value) {
  return std::string(to_string(value));
}
template <std::integral Integer>
requires(!std::same_as<Integer, int64_t>) std::string show(Integer value) {
  return show(static_cast<int64_t>(value));
}

}  // namespace warploom::ops
