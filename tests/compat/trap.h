#pragma once
// The traps are those of the cuDNN Frontend that programs may rely on or fall into, numbered T1,
// T2, ... as in docs/divergences.md. Each test shows what happens here.
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>
#include <warploom/compat/cudnn_frontend.h>

namespace trap {

namespace fe = cudnn_frontend;
using fe::error_code_t;
using fe::graph::Graph;
using fe::graph::Tensor_attributes;
using Tensor = std::shared_ptr<Tensor_attributes>;
using Pack = std::unordered_map<Tensor, void*>;
using Dims = std::vector<int64_t>;

/// A graph of floats; `io` is the type of what is not virtual.
inline Graph float_graph(fe::DataType_t io = fe::DataType_t::FLOAT) {
  Graph graph;
  graph.set_io_data_type(io)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  return graph;
}

inline Dims row_major(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

inline Tensor_attributes like(const Dims& dims, const std::string& name = "") {
  return Tensor_attributes().set_name(name).set_dim(dims).set_stride(row_major(dims));
}

inline fe::graph::Pointwise_attributes pointwise(fe::PointwiseMode_t mode) {
  return fe::graph::Pointwise_attributes().set_mode(mode);
}

inline bool says(const fe::error_t& error, const std::string& text) {
  return error.get_message().find(text) != std::string::npos;
}

/// A handle for as long as a test.
struct OwnHandle {
  cudnnHandle_t handle = nullptr;
  OwnHandle() { EXPECT_EQ(cudnnCreate(&handle), CUDNN_STATUS_SUCCESS); }
  ~OwnHandle() { cudnnDestroy(handle); }
  operator cudnnHandle_t() const { return handle; }
};

template <class Key>
fe::error_t run_built(const Graph& graph, cudnnHandle_t handle,
                      std::unordered_map<Key, void*>& pack) {
  std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size()));
  return graph.execute(handle, pack, workspace.data());
}

template <class Key>
fe::error_t run(Graph& graph, std::unordered_map<Key, void*>& pack) {
  const OwnHandle handle;
  if (auto error = graph.build(handle, {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
      error.is_bad())
    return error;
  return run_built(graph, handle, pack);
}

/// 1, 2, 3, ... divided by 8.
template <class T = float>
std::vector<T> counted(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<float>(i + 1) / 8);
  return values;
}

#define EXPECT_GOOD(call)                            \
  do {                                               \
    auto trap_error = (call);                        \
    EXPECT_TRUE(trap_error.is_good()) << trap_error; \
  } while (false)
#define EXPECT_CODE(call, wanted)                                         \
  do {                                                                    \
    auto trap_error = (call);                                             \
    EXPECT_EQ(trap_error.get_code(), error_code_t::wanted) << trap_error; \
  } while (false)

}  // namespace trap
