#pragma once
/// CUDA's 16-bit floating-point types: those of its headers, or Warploom's under their names.
#include <warploom/tensor.h>

#if !defined(WARPLOOM_COMPAT_SKIP_CUDA) && __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace warploom {
template <>
struct OwnFloat16<__half> {
  using type = half;
};
template <>
struct OwnFloat16<__nv_bfloat16> {
  using type = bfloat16;
};
}  // namespace warploom
#else
using warploom::half;
using __half = warploom::half;
using nv_bfloat16 = warploom::bfloat16;
using __nv_bfloat16 = warploom::bfloat16;

inline __half __float2half(float value) {
  return value;
}
inline float __half2float(__half value) {
  return value;
}
inline __nv_bfloat16 __float2bfloat16(float value) {
  return value;
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return value;
}
#endif
