#pragma once
#include <optional>
#include <type_traits>

#include <warploom/ops/operation.h>

// Forward convolution and its two gradients relate the same three tensors, Y = X * W, in each of
// which another is the result. What they share is written once in terms of X, W and Y.

namespace warploom::ops {

/// The port at which a convolution has a tensor.
struct ConvolutionPort {
  bool is_output;
  size_t port;

  /// Of lists of tensors by port, of any kind.
  template <class Inputs, class Outputs>
  const auto& of(const Inputs& inputs, const Outputs& outputs) const {
    return is_output ? outputs[port] : inputs[port];
  }
};

/// X: the image or its gradient; W: the filter or its gradient; Y: the response or its gradient.
struct ConvolutionParts {
  ConvolutionPort x, w, y;
};

template <class Attributes>
concept Convolution = std::is_base_of_v<graph::ConvolutionFields, Attributes>;

template <Convolution Attributes>
constexpr ConvolutionParts kParts{};
template <>
inline constexpr ConvolutionParts kParts<graph::Conv_fprop_attributes>{
    .x = {false, graph::Conv_fprop_attributes::X},
    .w = {false, graph::Conv_fprop_attributes::W},
    .y = {true, graph::Conv_fprop_attributes::Y}};
template <>
inline constexpr ConvolutionParts kParts<graph::Conv_dgrad_attributes>{
    .x = {true, graph::Conv_dgrad_attributes::DX},
    .w = {false, graph::Conv_dgrad_attributes::W},
    .y = {false, graph::Conv_dgrad_attributes::DY}};
template <>
inline constexpr ConvolutionParts kParts<graph::Conv_wgrad_attributes>{
    .x = {false, graph::Conv_wgrad_attributes::X},
    .w = {true, graph::Conv_wgrad_attributes::DW},
    .y = {false, graph::Conv_wgrad_attributes::DY}};

/// The parts of a convolution; nothing for another operation.
inline std::optional<ConvolutionParts> find_parts(const graph::Operation& operation) {
  return std::visit(
      []<class Attributes>(const Attributes&) -> std::optional<ConvolutionParts> {
        if constexpr (Convolution<Attributes>)
          return kParts<Attributes>;
        else
          return std::nullopt;
      },
      operation);
}

}  // namespace warploom::ops
