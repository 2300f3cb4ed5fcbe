#pragma once
/// The closed list of operations. Adding one here, with its class, is what makes the compiler ask
/// for the rest.
#include <variant>

#include <warploom/ops/attention.h>
#include <warploom/ops/attention_backward.h>
#include <warploom/ops/batchnorm.h>
#include <warploom/ops/block_scale.h>
#include <warploom/ops/convolution.h>
#include <warploom/ops/declared.h>
#include <warploom/ops/matmul.h>
#include <warploom/ops/movement.h>
#include <warploom/ops/norm.h>
#include <warploom/ops/pointwise.h>
#include <warploom/ops/reduction.h>
#include <warploom/ops/resample.h>
#include <warploom/ops/rng.h>
#include <warploom/ops/softmax.h>

namespace warploom::graph {

using Operation = std::variant<
    Conv_fprop_attributes, Conv_dgrad_attributes, Conv_wgrad_attributes, Matmul_attributes,
    Pointwise_attributes, Reduction_attributes, SDPA_attributes, SDPA_backward_attributes,
    SDPA_fp8_forward, SDPA_mxfp8_forward, SDPA_fp8_backward_attributes, SDPA_mxfp8_backward,
    Reshape_attributes, Transpose_attributes, Slice_attributes, Concatenate_attributes,
    Softmax_attributes, Layernorm_attributes, Layernorm_backward_attributes,
    AdaLayernorm_attributes, AdaLayernorm_backward_attributes, Rmsnorm_attributes,
    Rmsnorm_backward_attributes, Instancenorm_attributes, Instancenorm_backward_attributes,
    Batchnorm_attributes, Batchnorm_inference_attributes, Batchnorm_backward_attributes,
    DBN_weight_attributes, Genstats_attributes, BN_finalize_attributes, Resample_attributes,
    Resample_backward_attributes, Rng_attributes, Block_scale_quantize_attributes,
    Block_scale_dequantize_attributes, Moe_grouped_matmul_attributes,
    Moe_grouped_matmul_bwd_attributes, DiagonalBandMask_attributes>;

}  // namespace warploom::graph
