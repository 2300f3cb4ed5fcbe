#pragma once
/// Enumerations and 16-bit floating-point types. Names, members and their order are those of the
/// cuDNN Frontend 1.x graph API.
#include <cstdint>
#include <string_view>

#include <warploom/export.h>

namespace warploom {

// Of the data types, tensors may have FLOAT, DOUBLE, HALF, BFLOAT16, INT8, UINT8, INT32, INT64,
// BOOLEAN, FP8_E4M3, FP8_E5M2, FP8_E8M0 and FP4_E2M1 in this version; validate() refuses the others
// by name.
//
// Each enumeration is listed once; names and parsing (`to_string`, `from_string`) follow from the
// lists.
// clang-format off
#define WARPLOOM_DATA_TYPES(X)                                                                   \
  X(NOT_SET) X(FLOAT) X(DOUBLE) X(HALF) X(INT8) X(INT32) X(INT8x4) X(UINT8) X(UINT8x4)           \
  X(INT8x32) X(BFLOAT16) X(INT64) X(BOOLEAN) X(FP8_E4M3) X(FP8_E5M2) X(FAST_FLOAT_FOR_FP8)       \
  X(FP8_E8M0) X(FP4_E2M1) X(INT4) X(COMPLEX_FP32) X(COMPLEX_FP64)
#define WARPLOOM_TENSOR_REORDERINGS(X) X(NONE) X(INT8x32) X(F16x16) X(F8_128x4)
#define WARPLOOM_POINTWISE_MODES(X)                                                              \
  X(NOT_SET) X(ADD) X(MUL) X(SQRT) X(MAX) X(MIN) X(RELU_FWD) X(TANH_FWD) X(SIGMOID_FWD)          \
  X(ELU_FWD) X(GELU_FWD) X(SOFTPLUS_FWD) X(SWISH_FWD) X(RELU_BWD) X(TANH_BWD) X(SIGMOID_BWD)     \
  X(ELU_BWD) X(GELU_BWD) X(SOFTPLUS_BWD) X(SWISH_BWD) X(ERF) X(IDENTITY)                         \
  X(GELU_APPROX_TANH_BWD) X(GELU_APPROX_TANH_FWD) X(GEN_INDEX) X(BINARY_SELECT) X(EXP) X(LOG)    \
  X(NEG) X(MOD) X(POW) X(ABS) X(CEIL) X(COS) X(FLOOR) X(RSQRT) X(SIN) X(LOGICAL_NOT) X(TAN)      \
  X(SUB) X(ADD_SQUARE) X(DIV) X(CMP_EQ) X(CMP_NEQ) X(CMP_GT) X(CMP_GE) X(CMP_LT) X(CMP_LE)       \
  X(LOGICAL_AND) X(LOGICAL_OR) X(RECIPROCAL)
#define WARPLOOM_REDUCTION_MODES(X)                                                              \
  X(NOT_SET) X(ADD) X(MUL) X(MIN) X(MAX) X(AMAX) X(AVG) X(NORM1) X(NORM2) X(MUL_NO_ZEROS)
#define WARPLOOM_CONVOLUTION_MODES(X) X(NOT_SET) X(CONVOLUTION) X(CROSS_CORRELATION)
#define WARPLOOM_NORM_FWD_PHASES(X) X(NOT_SET) X(INFERENCE) X(TRAINING)
#define WARPLOOM_NORM_MODES(X)                                                                   \
  X(NOT_SET) X(LAYER_NORM) X(INSTANCE_NORM) X(BATCH_NORM) X(GROUP_NORM) X(RMS_NORM)              \
  X(ADA_LAYER_NORM)
#define WARPLOOM_MOE_GROUPED_MATMUL_MODES(X) X(NOT_SET) X(NONE) X(GATHER) X(SCATTER)
#define WARPLOOM_RESHAPE_MODES(X) X(NOT_SET) X(VIEW_ONLY) X(LOGICAL)
#define WARPLOOM_RESAMPLE_MODES(X)                                                               \
  X(NOT_SET) X(AVGPOOL_EXCLUDE_PADDING) X(AVGPOOL_INCLUDE_PADDING) X(BILINEAR) X(NEAREST)        \
  X(MAXPOOL)
#define WARPLOOM_PADDING_MODES(X) X(NOT_SET) X(EDGE_VAL_PAD) X(NEG_INF_PAD) X(ZERO_PAD)
#define WARPLOOM_RNG_DISTRIBUTIONS(X) X(NOT_SET) X(BERNOULLI) X(UNIFORM) X(NORMAL)
#define WARPLOOM_DIAGONAL_ALIGNMENTS(X) X(TOP_LEFT) X(BOTTOM_RIGHT)
#define WARPLOOM_ATTENTION_IMPLEMENTATIONS(X) X(AUTO) X(COMPOSITE) X(UNIFIED)
#define WARPLOOM_HEUR_MODES(X) X(A) X(B) X(FALLBACK) X(OPENSOURCE)
#define WARPLOOM_BUILD_PLAN_POLICIES(X) X(HEURISTICS_CHOICE) X(ALL)
#define WARPLOOM_BEHAVIOR_NOTES(X)                                                               \
  X(NOT_SET) X(RUNTIME_COMPILATION) X(REQUIRES_FILTER_INT8x32_REORDER)                           \
  X(REQUIRES_BIAS_INT8x32_REORDER) X(SUPPORTS_CUDA_GRAPH_NATIVE_API) X(CUBLASLT_DEPENDENCY)
#define WARPLOOM_NUMERICAL_NOTES(X)                                                              \
  X(NOT_SET) X(TENSOR_CORE) X(DOWN_CONVERT_INPUTS) X(REDUCED_PRECISION_REDUCTION) X(FFT)         \
  X(NONDETERMINISTIC) X(WINOGRAD) X(WINOGRAD_TILE_4x4) X(WINOGRAD_TILE_6x6)                      \
  X(WINOGRAD_TILE_13x13) X(STRICT_NAN_PROP)
#define WARPLOOM_KNOB_TYPES(X)                                                                   \
  X(NOT_SET) X(SWIZZLE) X(TILE_SIZE) X(EDGE) X(MULTIPLY) X(SPLIT_K_BUF) X(TILEK) X(STAGES)       \
  X(REDUCTION_MODE) X(SPLIT_K_SLC) X(IDX_MODE) X(SPECFILT) X(KERNEL_CFG) X(WORKSPACE)            \
  X(TILE_CGA_M) X(TILE_CGA_N) X(BLOCK_SIZE) X(OCCUPANCY) X(ARRAY_SIZE_PER_THREAD) X(SPLIT_COLS)  \
  X(TILE_ROWS) X(TILE_COLS) X(LOAD_SIZE) X(CTA_COUNT) X(STREAM_K) X(SPLIT_P_SLC) X(TILE_M)       \
  X(TILE_N) X(WARP_SPEC_CFG)

/// Every public enumeration and its list of members; used to define the enums below and their names
/// in one place.
#define WARPLOOM_ENUMS(E)                                        \
  E(DataType_t, WARPLOOM_DATA_TYPES)                             \
  E(TensorReordering_t, WARPLOOM_TENSOR_REORDERINGS)             \
  E(PointwiseMode_t, WARPLOOM_POINTWISE_MODES)                   \
  E(ReductionMode_t, WARPLOOM_REDUCTION_MODES)                   \
  E(ConvolutionMode_t, WARPLOOM_CONVOLUTION_MODES)               \
  E(NormFwdPhase_t, WARPLOOM_NORM_FWD_PHASES)                     \
  E(NormMode_t, WARPLOOM_NORM_MODES)                             \
  E(MoeGroupedMatmulMode_t, WARPLOOM_MOE_GROUPED_MATMUL_MODES)   \
  E(ReshapeMode_t, WARPLOOM_RESHAPE_MODES)                       \
  E(ResampleMode_t, WARPLOOM_RESAMPLE_MODES)                     \
  E(PaddingMode_t, WARPLOOM_PADDING_MODES)                       \
  E(RngDistribution_t, WARPLOOM_RNG_DISTRIBUTIONS)               \
  E(DiagonalAlignment_t, WARPLOOM_DIAGONAL_ALIGNMENTS)           \
  E(AttentionImplementation_t, WARPLOOM_ATTENTION_IMPLEMENTATIONS) \
  E(HeurMode_t, WARPLOOM_HEUR_MODES)                             \
  E(BuildPlanPolicy_t, WARPLOOM_BUILD_PLAN_POLICIES)             \
  E(BehaviorNote_t, WARPLOOM_BEHAVIOR_NOTES)                     \
  E(NumericalNote_t, WARPLOOM_NUMERICAL_NOTES)                   \
  E(KnobType_t, WARPLOOM_KNOB_TYPES)
// clang-format on

#define WARPLOOM_ENUM_MEMBER(name) name,
#define WARPLOOM_DEFINE_ENUM(type, list)                                                    \
  enum class type { list(WARPLOOM_ENUM_MEMBER) };                                           \
  /** The member's identifier, e.g. "BFLOAT16"; "?" for a value outside the enumeration. */ \
  WARPLOOM_EXPORT std::string_view to_string(type value);                                   \
  /** Sets `value` from a member's identifier; false, leaving `value` alone, if unknown. */ \
  WARPLOOM_EXPORT bool from_string(std::string_view text, type& value);
WARPLOOM_ENUMS(WARPLOOM_DEFINE_ENUM)
#undef WARPLOOM_DEFINE_ENUM

/// IEEE 754 binary16, stored as bits. Conversion from float rounds to nearest even.
struct half {
  uint16_t bits = 0;
  half() = default;
  WARPLOOM_EXPORT half(float value);
  WARPLOOM_EXPORT operator float() const;
};

/// The upper half of an IEEE 754 binary32, stored as bits. Conversion from float rounds to nearest
/// even; NaN stays NaN.
struct bfloat16 {
  uint16_t bits = 0;
  bfloat16() = default;
  WARPLOOM_EXPORT bfloat16(float value);
  WARPLOOM_EXPORT operator float() const;
};

/// A 16-bit float of another library, such as CUDA's __half, where `type` names half or bfloat16:
/// the one of the same bits. It is then taken wherever a scalar is.
template <class Foreign>
struct OwnFloat16 {};

namespace detail {
/// Storage of one element in bytes: FLOAT 4, DOUBLE 8, HALF and BFLOAT16 2, INT8, UINT8, BOOLEAN
/// and 8-bit floats 1, INT32 4, INT64 8; 0 for types that have no whole-byte element here
/// (FP4_E2M1, INT4, NOT_SET).
WARPLOOM_EXPORT int64_t get_data_type_size(DataType_t type);
/// Storage of one element in bits. BOOLEAN takes a byte (8), as in torch.bool.
WARPLOOM_EXPORT int64_t get_element_size_in_bits(DataType_t type);
}  // namespace detail

}  // namespace warploom
