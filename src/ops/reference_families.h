#pragma once
#include "ops/families.h"
#include "ops/index_loop.h"
#include "ops/norm_axes.h"
#include "ops/pointwise_formula.h"
#include "ops/reference.h"

// One overload of `reference` for every operation, and of `scratch_elements` (of 8 bytes) where it
// needs scratch. Number is double or int64_t.

namespace warploom::ops {

template <class Number>
void reference(const graph::Pointwise_attributes&, const ReferenceTensors&, Number* scratch);
template <class Number>
void reference(const graph::Reduction_attributes&, const ReferenceTensors&, Number* scratch);
template <class Number>
void reference(const graph::Matmul_attributes&, const ReferenceTensors&, Number* scratch);
template <class Number>
void reference(const graph::Conv_fprop_attributes&, const ReferenceTensors&, Number* scratch);
template <class Number>
void reference(const graph::Conv_dgrad_attributes&, const ReferenceTensors&, Number* scratch);
template <class Number>
void reference(const graph::Conv_wgrad_attributes&, const ReferenceTensors&, Number* scratch);
void reference(const graph::SDPA_attributes&, const ReferenceTensors&, double* scratch);
void reference(const graph::SDPA_backward_attributes&, const ReferenceTensors&, double* scratch);
void reference(const graph::SDPA_fp8_forward&, const ReferenceTensors&, double* scratch);
void reference(const graph::SDPA_mxfp8_forward&, const ReferenceTensors&, double* scratch);
void reference(const graph::Reshape_attributes&, const ReferenceTensors&);
void reference(const graph::Transpose_attributes&, const ReferenceTensors&);
void reference(const graph::Slice_attributes&, const ReferenceTensors&);
void reference(const graph::Softmax_attributes&, const ReferenceTensors&);
template <NormForward Attributes>
void reference(const Attributes&, const ReferenceTensors&);
template <NormBackward Attributes>
void reference(const Attributes&, const ReferenceTensors&, double* scratch);
void reference(const graph::Batchnorm_attributes&, const ReferenceTensors&);
void reference(const graph::Batchnorm_inference_attributes&, const ReferenceTensors&);
void reference(const graph::DBN_weight_attributes&, const ReferenceTensors&);
void reference(const graph::Genstats_attributes&, const ReferenceTensors&);
void reference(const graph::BN_finalize_attributes&, const ReferenceTensors&);
void reference(const graph::Concatenate_attributes&, const ReferenceTensors&);
template <class Number>
void reference(const graph::Resample_attributes&, const ReferenceTensors&, Number* scratch);
void reference(const graph::Resample_backward_attributes&, const ReferenceTensors&,
               double* scratch);
void reference(const graph::Rng_attributes&, const ReferenceTensors&);
void reference(const graph::Block_scale_quantize_attributes&, const ReferenceTensors&);
void reference(const graph::Block_scale_dequantize_attributes&, const ReferenceTensors&);

/// Graphs with these are refused.
template <DeclaredOnly Attributes>
void reference(const Attributes&, const ReferenceTensors&) {}

/// Wide, because a copy of a broadcast tensor may be larger than any memory.
using ElementCount = __int128;
ElementCount scratch_elements(const graph::Matmul_attributes&, const ReferenceTensors&);
ElementCount scratch_elements(const graph::Conv_fprop_attributes&, const ReferenceTensors&);
ElementCount scratch_elements(const graph::Conv_dgrad_attributes&, const ReferenceTensors&);
ElementCount scratch_elements(const graph::Conv_wgrad_attributes&, const ReferenceTensors&);
ElementCount scratch_elements(const graph::SDPA_attributes&, const ReferenceTensors&);
ElementCount scratch_elements(const graph::SDPA_backward_attributes&, const ReferenceTensors&);
ElementCount scratch_elements(const graph::SDPA_fp8_forward&, const ReferenceTensors&);
ElementCount scratch_elements(const graph::SDPA_mxfp8_forward&, const ReferenceTensors&);
template <NormBackward Attributes>
ElementCount scratch_elements(const Attributes&, const ReferenceTensors&);
ElementCount scratch_elements(const graph::Resample_backward_attributes&, const ReferenceTensors&);
template <class Attributes>
ElementCount scratch_elements(const Attributes&, const ReferenceTensors&) {
  return 0;
}

/// so_far + a b; integers modulo 2^64.
inline double multiply_add(double so_far, double a, double b) {
  return so_far + a * b;
}
inline int64_t multiply_add(int64_t so_far, int64_t a, int64_t b) {
  return formula::wrap_add(so_far, formula::wrap_multiply(a, b));
}

/// Copies all elements, in row-major order of the dims.
template <class Number>
void unpack(const ReferenceTensor& tensor, Number* packed) {
  for_each_index(tensor.shape->dims, [&](const Index& index) {
    *packed++ = load<Number>(tensor, offset_of(*tensor.shape, index));
  });
}

/// The reverse of `unpack`, rounding.
template <class Number>
void pack(const Number* packed, const ReferenceTensor& tensor) {
  for_each_index(tensor.shape->dims, [&](const Index& index) {
    store(tensor, offset_of(*tensor.shape, index), *packed++);
  });
}

}  // namespace warploom::ops
