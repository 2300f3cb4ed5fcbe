#pragma once
#include <warploom/ops/operation.h>

#include "ops/norm_axes.h"
#include "ops/site.h"

// One overload for every operation; check.cpp calls them in this order.

namespace warploom::ops {

/// Do fields and inputs fit together? Presence, data types and each tensor by itself are checked
/// already.
error_t validate(const graph::Conv_fprop_attributes& attributes, const Site& site);
error_t validate(const graph::Conv_dgrad_attributes& attributes, const Site& site);
error_t validate(const graph::Conv_wgrad_attributes& attributes, const Site& site);
error_t validate(const graph::Matmul_attributes& attributes, const Site& site);
error_t validate(const graph::Pointwise_attributes& attributes, const Site& site);
error_t validate(const graph::Reduction_attributes& attributes, const Site& site);
error_t validate(const graph::SDPA_attributes& attributes, const Site& site);
error_t validate(const graph::SDPA_backward_attributes& attributes, const Site& site);
error_t validate(const graph::SDPA_fp8_forward& attributes, const Site& site);
error_t validate(const graph::SDPA_mxfp8_forward& attributes, const Site& site);
error_t validate(const graph::Reshape_attributes& attributes, const Site& site);
error_t validate(const graph::Transpose_attributes& attributes, const Site& site);
error_t validate(const graph::Slice_attributes& attributes, const Site& site);
error_t validate(const graph::Softmax_attributes& attributes, const Site& site);
template <NormForward Attributes>
error_t validate(const Attributes& attributes, const Site& site);
template <NormBackward Attributes>
error_t validate(const Attributes& attributes, const Site& site);
error_t validate(const graph::Batchnorm_attributes& attributes, const Site& site);
error_t validate(const graph::Batchnorm_inference_attributes& attributes, const Site& site);
error_t validate(const graph::DBN_weight_attributes& attributes, const Site& site);
error_t validate(const graph::Genstats_attributes& attributes, const Site& site);
error_t validate(const graph::BN_finalize_attributes& attributes, const Site& site);
error_t validate(const graph::Concatenate_attributes& attributes, const Site& site);
error_t validate(const graph::Resample_attributes& attributes, const Site& site);
error_t validate(const graph::Resample_backward_attributes& attributes, const Site& site);
error_t validate(const graph::Rng_attributes& attributes, const Site& site);
error_t validate(const graph::Block_scale_quantize_attributes& attributes, const Site& site);
error_t validate(const graph::Block_scale_dequantize_attributes& attributes, const Site& site);

/// An operation that is declared and not run.
template <class Attributes>
concept DeclaredOnly = Attributes::kIsDeclaredOnly;
template <DeclaredOnly Attributes>
error_t validate(const Attributes&, const Site& site) {
  return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, "operation", Attributes::kTag,
                     "one that this version runs: this one is only declared");
}

/// Gives the outputs their dims and strides, or refuses dims that contradict.
error_t infer(graph::Conv_fprop_attributes& attributes, const Site& site);
error_t infer(graph::Conv_dgrad_attributes& attributes, const Site& site);
error_t infer(graph::Conv_wgrad_attributes& attributes, const Site& site);
error_t infer(graph::Matmul_attributes& attributes, const Site& site);
error_t infer(graph::Pointwise_attributes& attributes, const Site& site);
error_t infer(graph::Reduction_attributes& attributes, const Site& site);
error_t infer(graph::SDPA_attributes& attributes, const Site& site);
error_t infer(graph::SDPA_backward_attributes& attributes, const Site& site);
error_t infer(graph::Reshape_attributes& attributes, const Site& site);
error_t infer(graph::Transpose_attributes& attributes, const Site& site);
error_t infer(graph::Slice_attributes& attributes, const Site& site);
error_t infer(graph::Softmax_attributes& attributes, const Site& site);
template <NormForward Attributes>
error_t infer(Attributes& attributes, const Site& site);
template <NormBackward Attributes>
error_t infer(Attributes& attributes, const Site& site);
error_t infer(graph::Batchnorm_attributes& attributes, const Site& site);
error_t infer(graph::Batchnorm_inference_attributes& attributes, const Site& site);
error_t infer(graph::DBN_weight_attributes& attributes, const Site& site);
error_t infer(graph::Genstats_attributes& attributes, const Site& site);
error_t infer(graph::BN_finalize_attributes& attributes, const Site& site);
error_t infer(graph::Concatenate_attributes& attributes, const Site& site);
error_t infer(graph::Resample_attributes& attributes, const Site& site);
error_t infer(graph::Resample_backward_attributes& attributes, const Site& site);
error_t infer(graph::Rng_attributes& attributes, const Site& site);
error_t infer(graph::Block_scale_quantize_attributes& attributes, const Site& site);
error_t infer(graph::Block_scale_dequantize_attributes& attributes, const Site& site);

template <DeclaredOnly Attributes>
error_t infer(Attributes&, const Site&) {
  return {};
}

/// Are Y's strides those of a view of X's memory? Such a Y may repeat elements where X does.
bool is_view(const graph::Reshape_attributes& attributes);
bool is_view(const graph::Transpose_attributes& attributes);
bool is_view(const graph::Slice_attributes& attributes);
bool is_view(const graph::Concatenate_attributes& attributes);

/// Sets the output's dims if it has none; else compares each, naming the first that differs. Then
/// strides can be made of them: their product is a size in memory.
error_t infer_dims(const Site& site, size_t port, graph::Tensor_attributes& output,
                   const std::vector<int64_t>& dims);

/// Of an operation whose fields may give the output's dims and strides: dims are there or on the
/// output, nothing is negative, strides are as many as dims and no two of them contradict.
error_t check_target(const Site& site, const std::vector<int64_t>& dims,
                     const std::vector<int64_t>& strides, const graph::Tensor_attributes& output);

/// `infer_dims`, and strides with dimension 1 fastest where there are none.
error_t infer_nhwc(const Site& site, size_t port, graph::Tensor_attributes& output,
                   const std::vector<int64_t>& dims);

/// A scalar whose value the graph holds; it has no shape of its own.
bool is_stored_scalar(const graph::Tensor_attributes& tensor);

}  // namespace warploom::ops
