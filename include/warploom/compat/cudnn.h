#pragma once
/// The C functions of cuDNN that programs call beside the graph API, on handles of this library.
/// It takes the place of cuDNN's own header of this name, which must not be included before it, and
/// is skipped after it.
#if defined(CUDNN_H_) && !defined(WARPLOOM_COMPAT_CUDNN_H)
#error \
    "NVIDIA's cudnn.h was included before Warploom's: put warploom/compat first among the -I folders"
#endif
#define WARPLOOM_COMPAT_CUDNN_H
#define CUDNN_H_
#include <cstddef>
#include <cstdint>
#include <memory>

#include <warploom/handle.h>

#if !defined(WARPLOOM_COMPAT_SKIP_CUDA) && __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif

/// The version whose behaviour the programs' version checks shall see: everything is available.
#define CUDNN_MAJOR 9
#define CUDNN_MINOR 22
#define CUDNN_PATCHLEVEL 0
#define CUDNN_VERSION (CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL)

using cudnnHandle_t = warploom::handle_t;
/// As CUDA's headers declare it.
typedef struct CUstream_st* cudaStream_t;

enum cudnnStatus_t {
  CUDNN_STATUS_SUCCESS = 0,
  CUDNN_STATUS_NOT_INITIALIZED = 1001,
  CUDNN_STATUS_BAD_PARAM = 2000,
  CUDNN_STATUS_NOT_SUPPORTED = 3000,
  CUDNN_STATUS_INTERNAL_ERROR = 4000,
  CUDNN_STATUS_EXECUTION_FAILED = 5000,
};

struct cudnnFraction_t {
  int64_t numerator;
  int64_t denominator;
};

inline const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS:
      return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_NOT_INITIALIZED:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_BAD_PARAM:
      return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_INTERNAL_ERROR:
      return "CUDNN_STATUS_INTERNAL_ERROR";
    case CUDNN_STATUS_EXECUTION_FAILED:
      return "CUDNN_STATUS_EXECUTION_FAILED";
  }
  return "CUDNN_UNKNOWN_STATUS";
}

inline size_t cudnnGetVersion() {
  return CUDNN_VERSION;
}

inline size_t cudnnGetCudartVersion() {
#ifdef CUDART_VERSION
  return CUDART_VERSION;
#else
  return 13000;  // no CUDA: checks for a recent one shall pass
#endif
}

/// A handle on the default device: a GPU that Warploom can use, else the CPU.
inline cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (!handle) return CUDNN_STATUS_BAD_PARAM;
  *handle = warploom::create_handle().release();
  return CUDNN_STATUS_SUCCESS;
}

inline cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

inline cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (!handle) return CUDNN_STATUS_BAD_PARAM;
  handle->set_stream(stream);
  return CUDNN_STATUS_SUCCESS;
}

inline cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  if (!handle || !stream) return CUDNN_STATUS_BAD_PARAM;
  *stream = static_cast<cudaStream_t>(handle->get_stream());
  return CUDNN_STATUS_SUCCESS;
}
