#pragma once
/// Errors are values: a code a program can branch on and a message a person can act on.
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <warploom/export.h>

namespace warploom {

enum class [[nodiscard]] error_code_t{
    OK,
    ATTRIBUTE_NOT_SET,       ///< something mandatory is missing: a port, a field, dims, a data type
    SHAPE_DEDUCTION_FAILED,  ///< shapes do not fit together
    INVALID_TENSOR_NAME,
    INVALID_VARIANT_PACK,  ///< execute was given a pack that lacks a tensor or holds a null pointer
    GRAPH_NOT_SUPPORTED,   ///< a well-formed graph that nothing here runs
    GRAPH_EXECUTION_PLAN_CREATION_FAILED,  ///< no plan left after filters and builds
    GRAPH_EXECUTION_FAILED,                ///< a plan failed to run, or an index names no plan
    HEURISTIC_QUERY_FAILED,
    UNSUPPORTED_GRAPH_FORMAT,  ///< a file or string that is not a graph this version reads
    CUDA_API_FAILED,
    CUDNN_BACKEND_API_FAILED,
    INVALID_CUDA_DEVICE,
    HANDLE_ERROR,
    INVALID_VALUE,  ///< an argument outside what is accepted
    NVRTC_COMPILATION_FAILED,
};

/// The code's identifier, e.g. "INVALID_VALUE".
WARPLOOM_EXPORT std::string_view to_string(error_code_t code);

/// A code and a message; default-constructed means OK.
struct [[nodiscard]] error_object {
  error_code_t code = error_code_t::OK;
  std::string err_msg;

  error_object() = default;
  error_object(error_code_t error_code, std::string message)
      : code(error_code), err_msg(std::move(message)) {}

  error_code_t get_code() const { return code; }
  std::string get_message() const { return err_msg; }
  bool is_good() const { return code == error_code_t::OK; }
  bool is_bad() const { return !is_good(); }
  bool operator==(error_code_t other) const { return code == other; }
  bool operator!=(error_code_t other) const { return code != other; }
};
/// glibc has an error_t of its own at global scope: under `using namespace warploom;` write
/// error_object, auto or warploom::error_t.
using error_t = error_object;

/// Prints "CODE: message".
WARPLOOM_EXPORT std::ostream& operator<<(std::ostream& stream, const error_object& error);

/// A value or the error that took its place.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(error_object error) : state_(std::move(error)) {}

  bool is_good() const { return std::holds_alternative<T>(state_); }
  bool is_bad() const { return !is_good(); }
  /// The value; only when is_good().
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  /// The error, or OK when there is a value.
  error_object error() const { return is_good() ? error_object{} : std::get<error_object>(state_); }

 private:
  std::variant<T, error_object> state_;
};

}  // namespace warploom

/// Returns early with the error of `expression` when it is bad.
#define CHECK_WARPLOOM_ERROR(expression)                                                    \
  do {                                                                                      \
    if (auto warploom_error = (expression); warploom_error.is_bad()) return warploom_error; \
  } while (false)
