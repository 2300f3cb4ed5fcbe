#pragma once
/// The closed list of operations. Adding one here, with its class, is what makes the compiler ask
/// for the rest.
#include <variant>

#include <warploom/ops/attention.h>
#include <warploom/ops/convolution.h>
#include <warploom/ops/matmul.h>
#include <warploom/ops/movement.h>
#include <warploom/ops/pointwise.h>
#include <warploom/ops/reduction.h>

namespace warploom::graph {

using Operation =
    std::variant<Conv_fprop_attributes, Conv_dgrad_attributes, Conv_wgrad_attributes,
                 Matmul_attributes, Pointwise_attributes, Reduction_attributes, SDPA_attributes,
                 Reshape_attributes, Transpose_attributes, Slice_attributes>;

}  // namespace warploom::graph
