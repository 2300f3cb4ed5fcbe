#pragma once
/// The graph API as programs written for the cuDNN Frontend 1.x expect it: the same classes and
/// functions, in namespace cudnn_frontend, with its macros, logging, JSON and C functions.
/// docs/migrating.md says how to move, docs/divergences.md what differs.
///
/// Define before including, or for all of a program:
///   CUDNN_FRONTEND_SKIP_JSON_LIB         no nlohmann-json, and no `json` at global scope
///   NV_CUDNN_DISABLE_EXCEPTION           no exception classes
///   NV_CUDNN_FRONTEND_DISABLE_LOGGING    CUDNN_FE_LOG... write nothing
///   WARPLOOM_COMPAT_SKIP_CUDA            not CUDA's headers, where there are some
#include <algorithm>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <warploom/compat/cudnn.h>
#include <warploom/compat/float16.h>
#ifndef CUDNN_FRONTEND_SKIP_JSON_LIB
#include <warploom/compat/json.h>
#endif
#include <warploom/device_properties.h>
#include <warploom/logging.h>
#include <warploom/warploom.h>

#define CUDNN_FRONTEND_MAJOR_VERSION 1
#define CUDNN_FRONTEND_MINOR_VERSION 23
#define CUDNN_FRONTEND_PATCH_VERSION 0
#define CUDNN_FRONTEND_VERSION                                                 \
  (CUDNN_FRONTEND_MAJOR_VERSION * 10000 + CUDNN_FRONTEND_MINOR_VERSION * 100 + \
   CUDNN_FRONTEND_PATCH_VERSION)

#define CUDNN_FRONTEND_UNUSED(x) ((void)(x))
/// Returns early with the error of `expression` when it is bad.
#define CHECK_CUDNN_FRONTEND_ERROR(expression) CHECK_WARPLOOM_ERROR(expression)
/// Returns the error {code, message} when `condition` holds.
#define RETURN_CUDNN_FRONTEND_ERROR_IF(condition, code, message)         \
  do {                                                                   \
    if (condition) return ::cudnn_frontend::error_object(code, message); \
  } while (false)

/// One line in the log.
#ifdef NV_CUDNN_FRONTEND_DISABLE_LOGGING
#define CUDNN_FE_LOG(text) \
  do {                     \
  } while (false)
#else
#define CUDNN_FE_LOG(text)                                \
  do {                                                    \
    if (::cudnn_frontend::isLoggingEnabled()) {           \
      std::ostringstream cudnn_frontend_line;             \
      cudnn_frontend_line << text;                        \
      ::warploom::log_message(cudnn_frontend_line.str()); \
    }                                                     \
  } while (false)
#endif
#define CUDNN_FE_LOG_LABEL(text) CUDNN_FE_LOG(text)
#define CUDNN_FE_LOG_LABEL_ENDL(text) CUDNN_FE_LOG(text)
#define CUDNN_FE_LOG_BANNER(text) CUDNN_FE_LOG("=== " << text << " ===")

// Where streams find it: in the namespace of the types.
namespace warploom {

#define WARPLOOM_ENUM_OUTPUT(type, list)                              \
  inline std::ostream& operator<<(std::ostream& stream, type value) { \
    return stream << to_string(value);                                \
  }
WARPLOOM_ENUMS(WARPLOOM_ENUM_OUTPUT)
#undef WARPLOOM_ENUM_OUTPUT

inline std::ostream& operator<<(std::ostream& stream, error_code_t code) {
  return stream << to_string(code);
}

namespace graph {
inline std::ostream& operator<<(std::ostream& stream, const Tensor_attributes& tensor) {
  return stream << print(tensor);
}
}  // namespace graph

namespace detail {

constexpr size_t get_compiled_version() {
  return CUDNN_VERSION;
}
inline size_t get_backend_version() {
  return cudnnGetVersion();
}
/// "9.22.0" of 92200, "8.9.7" of 8907.
inline std::string convert_version_to_str(size_t version) {
  size_t major = version / 10000, minor = version / 100 % 100;
  if (major == 0) {
    major = version / 1000;
    minor = version / 100 % 10;
  }
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(version % 100);
}
inline std::string get_backend_version_string() {
  return convert_version_to_str(get_backend_version());
}

/// Packed strides; the dim of order 0 is the fastest.
inline std::vector<int64_t> generate_stride(const std::vector<int64_t>& dim,
                                            const std::vector<int64_t>& order) {
  std::vector<int64_t> stride(dim.size(), 1);
  for (size_t i = 0; i < dim.size(); ++i)
    for (size_t faster = 0; faster < dim.size(); ++faster)
      if (order[faster] < order[i]) stride[i] *= dim[faster];
  return stride;
}
inline std::vector<int64_t> generate_row_major_stride_order(int64_t rank) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  for (size_t i = 0; i < order.size(); ++i) order[i] = rank - 1 - static_cast<int64_t>(i);
  return order;
}
/// Dim 1 first, then the last, and so on; dim 0 at the end.
inline std::vector<int64_t> generate_NHWC_stride_order(int64_t rank) {
  auto order = generate_row_major_stride_order(rank);
  for (size_t i = 2; i < order.size(); ++i) ++order[i];
  if (order.size() > 1) order[1] = 0;
  return order;
}
/// Row-major with the last two dims swapped.
inline std::vector<int64_t> generate_column_major_stride_order(int64_t rank) {
  auto order = generate_row_major_stride_order(rank);
  if (rank > 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

}  // namespace detail
}  // namespace warploom

namespace cudnn_frontend {

namespace graph = warploom::graph;
namespace detail = warploom::detail;

#define WARPLOOM_USING_ENUM(type, list) using warploom::type;
WARPLOOM_ENUMS(WARPLOOM_USING_ENUM)
#undef WARPLOOM_USING_ENUM

using warploom::DeviceProperties;
using warploom::error_code_t;
using warploom::error_object;
using warploom::error_t;
using warploom::isLoggingEnabled;
using warploom::KernelCache;
using warploom::Knob;

#ifndef NV_CUDNN_DISABLE_EXCEPTION
/// Nothing here throws these; programs catch them.
class cudnnException : public std::runtime_error {
 public:
  cudnnException(const char* message, cudnnStatus_t status)
      : std::runtime_error(message), status_(status) {}
  cudnnStatus_t getCudnnStatus() const { return status_; }

 private:
  cudnnStatus_t status_;
};
class cudnnGraphNotSupportedException : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
#endif

}  // namespace cudnn_frontend
