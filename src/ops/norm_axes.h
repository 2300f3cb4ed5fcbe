#pragma once
#include <concepts>

#include <warploom/ops/operation.h>

#include "ops/index_loop.h"

// Which axes normalizations take their statistics over.

namespace warploom::ops {

template <class Attributes>
concept NormForward = std::derived_from<Attributes, graph::Norm_forward_attributes<Attributes>>;
template <class Attributes>
concept NormBackward = std::derived_from<Attributes, graph::Norm_backward_attributes<Attributes>> ||
    std::same_as<Attributes, graph::Rmsnorm_backward_attributes>;

/// Softmax and the forward normalizations: the first output is the first input, normalized.
template <class Attributes>
concept ForwardNormalization =
    NormForward<Attributes> || std::same_as<Attributes, graph::Softmax_attributes> ||
    std::same_as<Attributes, graph::Batchnorm_attributes> ||
    std::same_as<Attributes, graph::Batchnorm_inference_attributes>;
bool is_forward_normalization(const graph::Operation& operation);

/// Every operation of these families.
template <class Attributes>
concept Normalization = ForwardNormalization<Attributes> || NormBackward<Attributes> ||
    std::same_as<Attributes, graph::DBN_weight_attributes> ||
    std::same_as<Attributes, graph::Genstats_attributes> ||
    std::same_as<Attributes, graph::BN_finalize_attributes>;

enum class NormAxes {
  kOfScale,         ///< where SCALE's dim is not 1
  kOfScaleInBatch,  ///< of these, not axis 0
  kSpatial,         ///< all but the first two
  kAllButChannels,  ///< all but axis 1
};

template <class Attributes>
constexpr NormAxes kNormAxes = NormAxes::kOfScale;
template <>
inline constexpr NormAxes kNormAxes<graph::AdaLayernorm_attributes> = NormAxes::kOfScaleInBatch;
template <>
inline constexpr NormAxes kNormAxes<graph::AdaLayernorm_backward_attributes> =
    NormAxes::kOfScaleInBatch;
template <>
inline constexpr NormAxes kNormAxes<graph::Instancenorm_attributes> = NormAxes::kSpatial;
template <>
inline constexpr NormAxes kNormAxes<graph::Instancenorm_backward_attributes> = NormAxes::kSpatial;
template <>
inline constexpr NormAxes kNormAxes<graph::Batchnorm_attributes> = NormAxes::kAllButChannels;
template <>
inline constexpr NormAxes kNormAxes<graph::Batchnorm_inference_attributes> =
    NormAxes::kAllButChannels;
template <>
inline constexpr NormAxes kNormAxes<graph::Batchnorm_backward_attributes> =
    NormAxes::kAllButChannels;

/// The mean is subtracted: all but the root mean square.
template <class Attributes>
constexpr bool kIsCentered = !std::same_as<Attributes, graph::Rmsnorm_attributes> &&
                             !std::same_as<Attributes, graph::Rmsnorm_backward_attributes>;

/// Aligned right to `rank` dims, with dims of 1 before.
FixedDims aligned_dims(std::span<const int64_t> dims, size_t rank);
/// X's with 1 on the axes that are normalized over.
FixedDims statistics_dims(NormAxes axes, std::span<const int64_t> x,
                          std::span<const int64_t> scale);
/// Those of SCALE's and BIAS's gradients, of X's rank: SCALE's, or one for
/// every channel.
FixedDims parameter_dims(NormAxes axes, std::span<const int64_t> x, std::span<const int64_t> scale);
/// [1, C, 1, ...]
FixedDims channel_dims(std::span<const int64_t> x);

}  // namespace warploom::ops
