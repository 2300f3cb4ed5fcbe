#include <ostream>

#include <warploom/error.h>

namespace warploom {

std::string_view to_string(error_code_t code) {
  switch (code) {
#define WARPLOOM_ERROR_CODE(name) \
  case error_code_t::name:        \
    return #name;
    WARPLOOM_ERROR_CODE(OK)
    WARPLOOM_ERROR_CODE(ATTRIBUTE_NOT_SET)
    WARPLOOM_ERROR_CODE(SHAPE_DEDUCTION_FAILED)
    WARPLOOM_ERROR_CODE(INVALID_TENSOR_NAME)
    WARPLOOM_ERROR_CODE(INVALID_VARIANT_PACK)
    WARPLOOM_ERROR_CODE(GRAPH_NOT_SUPPORTED)
    WARPLOOM_ERROR_CODE(GRAPH_EXECUTION_PLAN_CREATION_FAILED)
    WARPLOOM_ERROR_CODE(GRAPH_EXECUTION_FAILED)
    WARPLOOM_ERROR_CODE(HEURISTIC_QUERY_FAILED)
    WARPLOOM_ERROR_CODE(UNSUPPORTED_GRAPH_FORMAT)
    WARPLOOM_ERROR_CODE(CUDA_API_FAILED)
    WARPLOOM_ERROR_CODE(CUDNN_BACKEND_API_FAILED)
    WARPLOOM_ERROR_CODE(INVALID_CUDA_DEVICE)
    WARPLOOM_ERROR_CODE(HANDLE_ERROR)
    WARPLOOM_ERROR_CODE(INVALID_VALUE)
    WARPLOOM_ERROR_CODE(NVRTC_COMPILATION_FAILED)
#undef WARPLOOM_ERROR_CODE
  }
  return "?";
}

std::ostream& operator<<(std::ostream& stream, const error_object& error) {
  stream << to_string(error.code);
  if (!error.err_msg.empty()) stream << ": " << error.err_msg;
  return stream;
}

}  // namespace warploom
