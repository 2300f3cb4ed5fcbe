#include "graph/builder.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "ops/reflection.h"

namespace warploom::graph {
namespace {

// Which operations name themselves and their inputs is the compatible behaviour, not a pattern.
template <class Attributes>
constexpr bool kNamesItself = std::is_same_v<Attributes, Conv_fprop_attributes> ||
                              std::is_same_v<Attributes, Matmul_attributes> ||
                              std::is_same_v<Attributes, Pointwise_attributes> ||
                              std::is_same_v<Attributes, DBN_weight_attributes> ||
                              std::is_same_v<Attributes, Moe_grouped_matmul_attributes> ||
                              std::is_same_v<Attributes, Moe_grouped_matmul_bwd_attributes>;
template <class Attributes>
constexpr bool kNamesInputs = std::is_same_v<Attributes, Matmul_attributes> ||
                              std::is_same_v<Attributes, Pointwise_attributes>;

std::string tensor_name(const std::string& node, std::string_view port) {
  return node + "::" + std::string(port);
}

template <class Attributes>
std::string result_name(const std::string& node, size_t port) {
  if constexpr (std::is_same_v<Attributes, Genstats_attributes>)
    return node + (port == Genstats_attributes::SUM ? "_sum_output" : "_sq_sum_output");
  if constexpr (std::is_same_v<Attributes, Rmsnorm_backward_attributes>) {
    if (port == Rmsnorm_backward_attributes::DSCALE) return tensor_name(node, "Dscale");
    if (port == Rmsnorm_backward_attributes::DBIAS) return tensor_name(node, "Dbias");
  }
  return tensor_name(node, Attributes::kOutputs[port].name);
}

}  // namespace

Operation& add_node(Description& description, Operation operation,
                    const std::vector<TensorPtr>& inputs,
                    const std::vector<size_t>& optional_outputs) {
  const std::string index = std::to_string(description.nodes.size());
  Operation& node = description.nodes.emplace_back(std::move(operation));
  std::visit(
      [&]<class Attributes>(Attributes& attributes) {
        if (kNamesItself<Attributes> && attributes.name.empty()) attributes.name = index;

        // More inputs than ports are kept too: validate() refuses them.
        attributes.inputs.resize(std::max(std::size(Attributes::kInputs), inputs.size()));
        size_t port = 0;
        for (const TensorPtr& input : inputs) {
          if (input) attributes.inputs[port] = input;
          ++port;
        }
        if constexpr (kNamesInputs<Attributes>)
          for (port = 0; port < std::size(Attributes::kInputs); ++port) {
            const TensorPtr& input = attributes.inputs[port];
            if (input && input->get_name().empty())
              input->set_name(tensor_name(attributes.name, Attributes::kInputs[port].name));
          }

        attributes.outputs.resize(std::size(Attributes::kOutputs));
        for (port = 0; port < attributes.outputs.size(); ++port) {
          const Port& declared = Attributes::kOutputs[port];
          const bool is_wanted =
              !declared.is_optional ||
              std::ranges::find(optional_outputs, port) != optional_outputs.end();
          if (attributes.outputs[port] || !is_wanted) continue;
          attributes.outputs[port] = std::make_shared<Tensor_attributes>();
          attributes.outputs[port]
              ->set_name(result_name<Attributes>(attributes.name, port))
              .set_is_virtual(true);
        }
      },
      node);
  return node;
}

TensorPtr result(const Operation& node, size_t port) {
  return ops::outputs(node)[port];
}

}  // namespace warploom::graph
